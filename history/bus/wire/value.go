package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
)

// maxDepth is how deep values may be nested: D-Bus specification, "Valid
// Signatures" (32 arrays and 32 structs) and "Message Format" (variants).
const maxDepth = 64

var errShort = errors.New("it ends in the middle of a value")

// decoder takes values apart. The first error stays; from then on all values are
// zero.
type decoder struct {
	data  []byte
	at    int
	order binary.ByteOrder
	err   error
}

func (d *decoder) fail(err error) {
	if d.err == nil {
		d.err = err
	}
	d.at = len(d.data)
}

func (d *decoder) align(n int) {
	if d.at = (d.at + n - 1) / n * n; d.at > len(d.data) {
		d.fail(errShort)
	}
}

// take are the next n bytes.
func (d *decoder) take(n int) []byte {
	if n < 0 || n > len(d.data)-d.at {
		d.fail(errShort)
		return nil
	}
	d.at += n
	return d.data[d.at-n : d.at]
}

func (d *decoder) byte() byte {
	if b := d.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (d *decoder) uint16() uint16 {
	d.align(2)
	if b := d.take(2); b != nil {
		return d.order.Uint16(b)
	}
	return 0
}

func (d *decoder) uint32() uint32 {
	d.align(4)
	if b := d.take(4); b != nil {
		return d.order.Uint32(b)
	}
	return 0
}

func (d *decoder) uint64() uint64 {
	d.align(8)
	if b := d.take(8); b != nil {
		return d.order.Uint64(b)
	}
	return 0
}

// text is a string of n bytes and the zero behind it.
func (d *decoder) text(n int) string {
	b := d.take(n)
	d.take(1)
	return string(b)
}

// values are the values of a signature's types.
func (d *decoder) values(signature string) ([]any, error) {
	var values []any
	for signature != "" && d.err == nil {
		var value any
		value, signature = d.value(signature, 0)
		values = append(values, value)
	}
	return values, d.err
}

// value is one of the signature's first type. It returns the types behind that.
//
// Integers keep their types, booleans are bool, texts of all kinds string. An
// array of bytes is []byte, one of texts []string, a dictionary map[string]any,
// and any other array []any, as is a struct. A variant is its value.
func (d *decoder) value(signature string, depth int) (value any, rest string) {
	switch {
	case signature == "":
		d.fail(errors.New("a value has no type"))
		return nil, ""
	case depth > maxDepth:
		d.fail(errors.New("values are nested too deep"))
		return nil, ""
	}
	kind, rest := signature[0], signature[1:]
	switch kind {
	case 'a':
		return d.array(rest, depth+1)
	case '(':
		return d.structure(rest, depth+1)
	case 'v':
		return d.variant(depth + 1), rest
	}
	return d.basic(kind), rest
}

// basic is a value that holds no others.
func (d *decoder) basic(kind byte) any {
	switch kind {
	case 'y':
		return d.byte()
	case 'b':
		return d.uint32() != 0
	case 'n':
		return int16(d.uint16()) //nolint:gosec // the same bits, by their type
	case 'q':
		return d.uint16()
	case 'i':
		return int32(d.uint32()) //nolint:gosec // the same bits, by their type
	case 'u', 'h':
		return d.uint32()
	case 'x':
		return int64(d.uint64()) //nolint:gosec // the same bits, by their type
	case 't':
		return d.uint64()
	case 'd':
		return math.Float64frombits(d.uint64())
	case 's', 'o':
		return d.text(int(d.uint32()))
	case 'g':
		return d.text(int(d.byte()))
	}
	d.fail(fmt.Errorf("%q is no type", kind))
	return nil
}

// variant is a value that brings its type.
func (d *decoder) variant(depth int) any {
	signature := d.text(int(d.byte()))
	value, rest := d.value(signature, depth)
	if rest != "" {
		d.fail(fmt.Errorf("a variant has several types: %s", signature))
	}
	return value
}

// structure are the values up to the ).
func (d *decoder) structure(signature string, depth int) (values []any, rest string) {
	for d.align(8); signature != "" && signature[0] != ')' && d.err == nil; {
		var value any
		value, signature = d.value(signature, depth)
		values = append(values, value)
	}
	if signature == "" || values == nil {
		d.fail(errors.New("a struct without members, or without an end"))
		return nil, ""
	}
	return values, signature[1:]
}

// array is one whose elements are of the first type of the signature.
func (d *decoder) array(signature string, depth int) (values any, rest string) {
	size := int(d.uint32())
	kind := byte(0)
	if signature != "" {
		kind = signature[0]
	}
	d.align(alignment(kind))
	if size > len(d.data)-d.at {
		d.fail(errShort)
	}
	element, rest, err := first(signature)
	switch {
	case err != nil:
		d.fail(err)
	case d.err != nil:
	case kind == 'y':
		return append([]byte{}, d.take(size)...), rest
	}
	if d.err != nil {
		return nil, ""
	}
	end := d.at + size
	switch kind {
	case 's', 'o', 'g':
		values = d.texts(kind, end)
	case '{':
		values = d.entries(element[1:len(element)-1], end, depth)
	default:
		values = d.list(element, end, depth)
	}
	if d.at != end {
		d.fail(errors.New("an array whose last element is not whole"))
	}
	return values, rest
}

func (d *decoder) list(element string, end, depth int) []any {
	list := []any{}
	for d.at < end && d.err == nil {
		value, _ := d.value(element, depth)
		list = append(list, value)
	}
	return list
}

func (d *decoder) texts(kind byte, end int) []string {
	list := []string{}
	for d.at < end && d.err == nil {
		text, _ := d.basic(kind).(string)
		list = append(list, text)
	}
	return list
}

// entries are a dictionary's. Those whose keys are no texts are not kept: no
// manager has any.
func (d *decoder) entries(types string, end, depth int) map[string]any {
	entries := map[string]any{}
	for d.at < end && d.err == nil {
		d.align(8)
		key, of := d.value(types, depth)
		value, rest := d.value(of, depth)
		if rest != "" {
			d.fail(errors.New("an entry of more than two values"))
		}
		if name, ok := key.(string); ok {
			entries[name] = value
		}
	}
	return entries
}

// alignment is where a value of that type begins.
func alignment(kind byte) int {
	switch kind {
	case 'y', 'g', 'v':
		return 1
	case 'n', 'q':
		return 2
	case 'x', 't', 'd', '(', '{':
		return 8
	}
	return 4
}

// first cuts the first whole type off a signature.
func first(signature string) (kind, rest string, err error) {
	depth, at := 0, 0
	for ; at < len(signature); at++ {
		switch c := signature[at]; {
		case c == 'a':
			continue
		case c == '(' || c == '{':
			depth++
		case c == ')' || c == '}':
			depth--
		case !strings.ContainsRune("ybnqiuhxtdsogv", rune(c)):
			return "", "", fmt.Errorf("%q is no type", c)
		}
		if depth <= 0 {
			break
		}
	}
	if at >= len(signature) || depth != 0 {
		return "", "", fmt.Errorf("%q is no whole type", signature)
	}
	return signature[:at+1], signature[at+1:], nil
}
