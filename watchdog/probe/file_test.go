package probe

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestFileHoldsWhileItIsThereAndYoung(t *testing.T) {
	path := filepath.Join(t.TempDir(), "alive")
	expect(t, "file:"+path, "no such file or directory")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		age           time.Duration
		options, want string
	}{
		{0, "", ""},
		{0, ",max-age=1min", ""},
		{999 * time.Hour, "", ""},
		{30 * time.Second, ",max-age=1min", ""},
		{-time.Hour, ",max-age=1min", ""}, // a clock was set back
		{90*time.Second + time.Millisecond, ",max-age=1min", "not touched for 1min 30s"},
	} {
		touched := time.Now().Add(-tc.age)
		if err := os.Chtimes(path, touched, touched); err != nil {
			t.Fatal(err)
		}
		expect(t, "file:"+path+tc.options, tc.want)
	}
	expect(t, "file:"+filepath.Dir(path)+",max-age=1h", "") // a directory is touched too
	expect(t, "file:"+path+"/x", "not a directory")
}

func TestAgesAreCoarse(t *testing.T) {
	for d, want := range map[time.Duration]time.Duration{
		1234567 * time.Nanosecond: time.Millisecond, 1999 * time.Millisecond: time.Second, time.Hour: time.Hour,
	} {
		if got := coarse(d); got != want {
			t.Errorf("%v is told as %v, want %v", d, got, want)
		}
	}
}
