package verbs

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// HasColours says whether out is a terminal that is to have colours
// (no-color.org).
func HasColours(out io.Writer, getenv func(string) string) bool {
	file, ok := out.(*os.File)
	if !ok || getenv("NO_COLOR") != "" || getenv("TERM") == "" || getenv("TERM") == "dumb" {
		return false
	}
	_, err := unix.IoctlGetTermios(int(file.Fd()), unix.TCGETS)
	return err == nil
}
