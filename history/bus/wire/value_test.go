package wire

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"github.com/godbus/dbus/v5"
	"github.com/google/go-cmp/cmp"
)

// replyOf is a reply with these values, as another implementation encodes it.
func replyOf(t testing.TB, order binary.ByteOrder, serial uint32, values ...any) []byte {
	t.Helper()
	var out bytes.Buffer
	m := dbus.Message{Type: dbus.TypeMethodReply, Headers: map[dbus.HeaderField]dbus.Variant{
		dbus.FieldReplySerial: dbus.MakeVariant(serial), dbus.FieldSender: dbus.MakeVariant(":1.1"),
	}, Body: values}
	if len(values) > 0 {
		m.Headers[dbus.FieldSignature] = dbus.MakeVariant(dbus.SignatureOf(values...))
	}
	if err := m.EncodeTo(&out, order); err != nil {
		t.Fatal(err)
	}
	raw := out.Bytes()
	order.PutUint32(raw[8:], 1) // a message of serial 0 is none
	return raw
}

// read reads one message.
func read(raw []byte) (message, []any, error) {
	r := reader{in: bufio.NewReader(bytes.NewReader(raw))}
	m, err := r.next()
	if err != nil {
		return m, nil, err
	}
	values, err := m.values()
	return m, values, err
}

// condition is an (sbbsi).
type condition struct {
	Name            string
	Trigger, Negate bool
	Value           string
	State           int32
}

func TestValuesOfEveryTypeAreReadInBothByteOrders(t *testing.T) {
	sent := []any{
		byte(7), true, int16(-2), uint16(3), int32(-4), uint32(5), int64(-6), uint64(math.MaxUint64), 1.5,
		"text", dbus.ObjectPath("/a/b"), dbus.ParseSignatureMust("a{sv}"),
		[]byte{1, 2}, []string{"x", ""}, []dbus.ObjectPath{"/c"}, []uint64{8, 9}, []string{},
		condition{"ConditionHost", false, true, "/b", -1}, []condition{{Name: "A"}, {Name: "B", State: 1}}, [][]int32{{1}, {}, {2, 3}},
		map[string]dbus.Variant{"Restart": dbus.MakeVariant("no"), "Codes": dbus.MakeVariant([]int32{3})},
		dbus.MakeVariant(dbus.MakeVariant(uint32(1))),
	}
	want := []any{
		byte(7), true, int16(-2), uint16(3), int32(-4), uint32(5), int64(-6), uint64(math.MaxUint64), 1.5,
		"text", "/a/b", "a{sv}",
		[]byte{1, 2}, []string{"x", ""}, []string{"/c"}, []any{uint64(8), uint64(9)}, []string{},
		[]any{"ConditionHost", false, true, "/b", int32(-1)},
		[]any{[]any{"A", false, false, "", int32(0)}, []any{"B", false, false, "", int32(1)}},
		[]any{[]any{int32(1)}, []any{}, []any{int32(2), int32(3)}},
		map[string]any{"Restart": "no", "Codes": []any{int32(3)}},
		uint32(1),
	}
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		m, got, err := read(replyOf(t, order, 42, sent...))
		if err != nil || m.answers != 42 || m.kind != typeReply {
			t.Errorf("%v: message %+v, error %v", order, m, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%v: -want +got\n%s", order, diff)
		}
	}
}

// decode decodes a body of that signature.
func decode(signature string, data ...byte) ([]any, error) {
	d := decoder{data: data, order: binary.LittleEndian}
	return d.values(signature)
}

func TestWhatIsNoValueIsAnError(t *testing.T) {
	for name, err := range map[string]error{
		"short":                  second(decode("u", 1, 0)),
		"a string without end":   second(decode("s", 200, 0, 0, 0, 'x')),
		"a type that is none":    second(decode("z", 1, 2)),
		"an array of none":       second(decode("a", 0, 0, 0, 0)),
		"a struct without end":   second(decode("(u", 1, 0, 0, 0)),
		"a struct without parts": second(decode("a()", 8, 0, 0, 0, 0, 0, 0, 0)),
		"an entry without value": second(decode("a{s}", 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)),
		"a variant without type": second(decode("v", 0, 0)),
		"a variant of two types": second(decode("v", 2, 'y', 'y', 0, 1, 1)),
		"half an element":        second(decode("ai", 6, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0)),
		"too large an array":     second(decode("ay", 255, 255, 255, 255, 1)),
		"too deep":               second(decode(strings.Repeat("(", 100)+"y"+strings.Repeat(")", 100), 1)),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func second(_ []any, err error) error { return err }

func FuzzMessage(f *testing.F) {
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		f.Add(replyOf(f, order, 1, "x", []string{"a"}, map[string]dbus.Variant{"b": dbus.MakeVariant([]condition{{Name: "c"}})}))
		f.Add(replyOf(f, order, 1))
	}
	f.Add([]byte("l\x03\x00\x01\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, values, err := read(raw)
		if err == nil && m.kind == typeError {
			t.Errorf("an error was read as %v", values)
		}
		if first, second := raw, append(bytes.Clone(raw), "behind it"...); err == nil {
			_, again, err := read(second)
			if diff := cmp.Diff(values, again, cmp.Comparer(sameFloat)); err != nil || diff != "" {
				t.Errorf("%q reads differently with something behind it: %v\n%s", first, err, diff)
			}
		}
	})
}

// sameFloat holds a NaN for itself.
func sameFloat(a, b float64) bool { return a == b || a != a && b != b }
