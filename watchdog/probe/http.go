package probe

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/svckit/svckit/watchdog"
)

// httpCheck is an HTTP check, made ready to be asked often.
type httpCheck struct {
	door       door
	secure     func(Conn) (Conn, error) // nil where nothing is to be
	request    request
	headerFile string
	status     *watchdog.StatusSet
	body       *regexp.Regexp // nil where any body will do
	buffers    sync.Pool      // of *bufio.Reader: a new one a probe would be most of its garbage
}

// newHTTP holds when the endpoint answers completely, with a status of the
// check's set and a body that matches.
func newHTTP(c watchdog.Check, host Host) (attempt, error) {
	url, err := c.URL()
	if err != nil {
		return nil, err
	}
	h := &httpCheck{request: newRequest(c.HTTP, url), headerFile: c.HTTP.HeaderFile}
	if h.door, err = newDoor(url.Network, url.Address, c.Owned, host); err != nil {
		return nil, err
	}
	if url.TLS {
		name := serverName(url.Host)
		if c.HTTP.Host != "" {
			name = serverName(c.HTTP.Host)
		}
		h.secure = func(conn Conn) (Conn, error) { return host.TLS(conn, name, c.HTTP.Insecure) }
	}
	if h.status, err = watchdog.ParseStatus(c.HTTP.Status); err != nil {
		return nil, err
	}
	if c.HTTP.Body != "" {
		if h.body, err = regexp.Compile(c.HTTP.Body); err != nil {
			return nil, err
		}
	}
	return h.ask, nil
}

// ask is one attempt. All of it stands and falls with one connection: when
// ctx ends, the connection's deadline has passed, whatever it waits for.
func (h *httpCheck) ask(ctx context.Context) error {
	request, err := h.text()
	if err != nil {
		return err
	}
	conn, err := h.door.open(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	defer interrupt(ctx, conn)()
	if h.secure != nil {
		if conn, err = h.secure(conn); err != nil {
			return err
		}
	}
	if _, err := io.WriteString(conn, request); err != nil {
		return err
	}
	in, ok := h.buffers.Get().(*bufio.Reader)
	if !ok {
		in = bufio.NewReaderSize(nil, maxLine)
	}
	in.Reset(conn)
	defer func() {
		in.Reset(nil)
		h.buffers.Put(in)
	}()
	return h.judge(in)
}

// interrupt ends all waiting on conn with ctx. The function that it returns
// undoes that, and returns only when nothing of it runs any more.
func interrupt(ctx context.Context, conn Conn) func() {
	done := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		_ = conn.SetDeadline(time.Unix(1, 0)) // fails only on a closed conn
		close(done)
	})
	return func() {
		if !stop() {
			<-done
		}
	}
}

// serverName is HOST of HOST[:PORT], an IPv6 address without its brackets.
func serverName(host string) string {
	if inner, ok := strings.CutPrefix(host, "["); ok {
		host, _, _ = strings.Cut(inner, "]")
		return host
	}
	host, _, _ = strings.Cut(host, ":")
	return host
}

// judge reads the answer and says whether the check holds.
func (h *httpCheck) judge(in *bufio.Reader) error {
	a, err := readHead(in, h.request.method)
	if err != nil {
		return err
	}
	if !h.status.Has(a.status) {
		return fmt.Errorf("status %d", a.status)
	}
	keep := 0
	if h.body != nil {
		keep = maxMatch
	}
	body, err := a.readBody(keep)
	switch {
	case err != nil:
		return err
	case h.body != nil && !h.body.Match(body):
		return fmt.Errorf("the body does not match")
	}
	return nil
}

// text is the request, with what the header file says now: a credential may
// have been renewed since the last probe.
func (h *httpCheck) text() (string, error) {
	if h.headerFile == "" {
		return h.request.text(nil), nil
	}
	headers, err := readHeaderFile(h.headerFile)
	if err != nil {
		return "", fmt.Errorf("header file: %w", bare(err))
	}
	return h.request.text(headers), nil
}
