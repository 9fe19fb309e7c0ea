package syntax

import (
	"testing"
	"time"
)

func TestASpanForPeopleHasThreeDigitsOrTwoUnits(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0ms", 499 * time.Microsecond: "0ms", 34567 * time.Microsecond: "35ms", time.Second: "1.00s",
		2*time.Second + 71*time.Millisecond: "2.07s", 12345 * time.Millisecond: "12.3s", 61 * time.Second: "1min 1s",
		3*time.Hour + 25*time.Minute + 59*time.Second: "3h 25min", 49 * time.Hour: "2d 1h", Infinity: "infinity",
	} {
		if got := AboutDuration(d); got != want {
			t.Errorf("%v: %s; want %s", d, got, want)
		}
	}
}
