package probe

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/svckit/svckit/watchdog"
)

// grpcCheck asks grpc.health.v1.Health/Check, as the gRPC health checking
// protocol has it, over HTTP/2 without TLS.
type grpcCheck struct {
	door    door
	service string
}

// newGRPC holds when the server says that the service is SERVING.
func newGRPC(c watchdog.Check, host Host) (attempt, error) {
	address, service, err := c.GRPC()
	if err != nil {
		return nil, err
	}
	door, err := newDoor("tcp", address, false, host)
	if err != nil {
		return nil, err
	}
	g := &grpcCheck{door, service}
	return g.ask, nil
}

// ask is one attempt, on a connection of its own.
func (g *grpcCheck) ask(ctx context.Context) error {
	conn, err := g.door.open(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	defer interrupt(ctx, conn)()
	x := &exchange{out: conn, in: bufio.NewReaderSize(conn, 4<<10)}
	if err := x.send(g.headers(ctx), healthRequest(g.service)); err != nil {
		return err
	}
	if err := x.receive(); err != nil {
		return err
	}
	return x.answer.judge(g.service)
}

// headers are those of the request.
func (g *grpcCheck) headers(ctx context.Context) [][2]string {
	headers := [][2]string{
		{":method", "POST"}, {":scheme", "http"}, {":path", "/grpc.health.v1.Health/Check"}, {":authority", g.door.address},
		{"te", "trailers"}, {"content-type", "application/grpc"}, {"user-agent", "svcrun"},
	}
	if deadline, ok := ctx.Deadline(); ok {
		left := max(1, time.Until(deadline).Milliseconds())
		headers = append(headers, [2]string{"grpc-timeout", strconv.FormatInt(min(left, 99999999), 10) + "m"}) // eight digits at most
	}
	return headers
}

// healthRequest is HealthCheckRequest{service} with gRPC's prefix: one byte for
// not compressed, four for the length.
func healthRequest(service string) []byte {
	var message []byte
	if service != "" {
		message = append(message, 1<<3|wireBytes)
		message = binary.AppendUvarint(message, uint64(len(service)))
		message = append(message, service...)
	}
	return append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message))), message...)
}

// grpcAnswer is what a gRPC server has answered.
type grpcAnswer struct {
	status  string // of HTTP
	content string // content-type
	code    string // grpc-status; "" before the trailers
	message string // grpc-message
	body    []byte
}

// keep takes a header or a trailer that matters.
func (a *grpcAnswer) keep(name, value string) {
	switch name {
	case ":status":
		a.status = value
	case "content-type":
		a.content = value
	case "grpc-status":
		a.code = value
	case "grpc-message":
		a.message = value
	}
}

// codes are the names of gRPC's status codes that a health check meets.
var codes = map[string]string{
	"1": "cancelled", "2": "unknown error", "3": "invalid argument", "4": "deadline exceeded", "7": "permission denied",
	"8": "resource exhausted", "13": "internal error", "14": "unavailable", "16": "unauthenticated",
}

// judge says whether the service is SERVING.
func (a *grpcAnswer) judge(service string) error {
	switch {
	case a.status != "200":
		return fmt.Errorf("status %s, from no gRPC server", a.status)
	case a.code == "":
		return errors.New("the answer has no grpc-status")
	case a.code == "12":
		return errors.New("the server does not have grpc.health.v1")
	case a.code == "5":
		return fmt.Errorf("the server does not know the service %q", service)
	case a.code != "0":
		text := "grpc status " + a.code
		if name, ok := codes[a.code]; ok {
			text += " (" + name + ")"
		}
		if a.message != "" {
			text += ": " + a.message
		}
		return errors.New(text)
	}
	status, err := healthResponse(a.body)
	if err != nil {
		return err
	}
	switch status {
	case 1:
		return nil
	case 2:
		return errors.New("NOT_SERVING")
	case 3:
		return errors.New("SERVICE_UNKNOWN")
	case 0:
		return errors.New("UNKNOWN")
	}
	return fmt.Errorf("health status %d, which grpc.health.v1 does not have", status)
}

// The wire types of protobuf that are in use.
const (
	wireVarint  = 0
	wireFixed64 = 1
	wireBytes   = 2
	wireFixed32 = 5
)

var errBadMessage = errors.New("the answer is no health response")

// healthResponse is the status of a HealthCheckResponse with gRPC's prefix.
func healthResponse(body []byte) (status uint64, err error) {
	if len(body) < 5 || uint64(binary.BigEndian.Uint32(body[1:])) != uint64(len(body)-5) {
		return 0, errBadMessage
	}
	if body[0] != 0 {
		return 0, errors.New("the answer is compressed, which was not asked for")
	}
	for rest := body[5:]; len(rest) > 0; {
		key, n := binary.Uvarint(rest)
		if n <= 0 {
			return 0, errBadMessage
		}
		rest = rest[n:]
		size, value := 0, uint64(0)
		switch key & 7 {
		case wireVarint:
			value, size = binary.Uvarint(rest)
		case wireFixed64:
			size = 8
		case wireFixed32:
			size = 4
		case wireBytes:
			length, n := binary.Uvarint(rest)
			if n > 0 && length <= uint64(len(rest)-n) {
				size = n + int(length)
			}
		}
		if size <= 0 || size > len(rest) {
			return 0, errBadMessage
		}
		rest = rest[size:]
		if key == 1<<3|wireVarint {
			status = value
		}
	}
	return status, nil
}
