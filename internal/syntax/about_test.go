package syntax

import (
	"testing"
	"time"
)

func TestASpanForPeopleHasThreeDigitsOrTwoUnits(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0ms", 499 * time.Microsecond: "0ms", 1499 * time.Microsecond: "1ms", 999 * time.Millisecond: "999ms",
		time.Second: "1.00s", 2274 * time.Millisecond: "2.27s", 26457 * time.Millisecond: "26.5s", 90 * time.Second: "1min 30s",
		59*time.Minute + 59*time.Second: "59min 59s", 2*time.Hour + 5*time.Minute: "2h 5min", 76 * time.Hour: "3d 4h",
		Infinity: "infinity",
	} {
		if got := AboutDuration(d); got != want {
			t.Errorf("%v: %s; want %s", d, got, want)
		}
	}
}
