package probe

import (
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"

	"github.com/svckit/svckit/watchdog"
)

// maxHeaderFile bounds a header file, in bytes.
const maxHeaderFile = 64 << 10

// readHeaderFile reads lines of "Name: value". What is no regular file could
// block for ever and is refused; O_NONBLOCK is for the open of a FIFO.
func readHeaderFile(path string) ([]string, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("not a regular file")
	}
	content, err := io.ReadAll(io.LimitReader(file, maxHeaderFile+1))
	if err != nil {
		return nil, err
	}
	if len(content) > maxHeaderFile {
		return nil, fmt.Errorf("over 64 KiB")
	}
	var headers []string
	for i, line := range strings.Split(string(content), "\n") {
		if strings.TrimSpace(line) == "" {
			continue
		}
		name, value, err := watchdog.SplitHeader(strings.TrimSuffix(line, "\r"))
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		headers = append(headers, name+": "+value)
	}
	return headers, nil
}
