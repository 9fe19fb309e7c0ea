package lab

import "sync"

// maxTail bounds what is kept of a script's or a machine's output, in bytes.
const maxTail = 64 << 10

// Tail is a writer that keeps the end of what is written to it. The zero Tail is
// ready.
type Tail struct {
	mu   sync.Mutex
	text []byte
}

// Write is io.Writer.
func (t *Tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if over := len(t.text) - maxTail; over > 0 {
		t.text = append(t.text[:0], t.text[over:]...)
	}
	return len(p), nil
}

// String is what has been kept.
func (t *Tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}
