package journal

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/svckit/svckit/history"
)

// maxBlob is the largest field of an export that can be one: DATA_SIZE_MAX of
// systemd (src/libsystemd/sd-journal/journal-importer.h).
const maxBlob = 768 << 20

// errCut is the end of an export in the middle of an entry.
var errCut = errors.New("the export is cut off in the middle of an entry")

// scanExport decodes what journalctl -o export writes: an entry is a field a
// line and then an empty line. A field that is no plain text has its name on a
// line, its length in eight bytes, and then itself (systemd's Journal Export
// Formats). At the end, wholeLine says whether the last line was one.
func scanExport(reader *bufio.Reader, wholeLine func() bool, visit func(history.Entry)) (skipped int, err error) {
	for {
		var r record
		fields, err := readFields(reader, &r)
		end := errors.Is(err, io.EOF)
		switch {
		case end && fields == 0:
			return skipped, nil
		case err != nil && !end:
			return skipped + 1, err
		case end && !wholeLine():
			return skipped + 1, errCut
		case fields == 0:
			continue // an empty line more than needed
		}
		entry, entryErr := r.entry()
		switch {
		case entryErr == nil:
			visit(entry)
		case end:
			return skipped + 1, errCut
		default:
			skipped++
		}
		if end {
			return skipped, nil
		}
	}
}

// readFields reads the fields of an entry, up to the empty line or, with io.EOF,
// the end.
func readFields(reader *bufio.Reader, r *record) (fields int, err error) {
	for {
		line, oversized, err := readLine(reader)
		if err != nil || len(line) == 0 && !oversized {
			return fields, err
		}
		fields++
		if oversized {
			continue // a text of more than maxLine is of no field that is read
		}
		name, value, isText := bytes.Cut(line, []byte{'='})
		if !isText {
			if value, err = readBlob(reader); err != nil {
				return fields, err
			}
		}
		if to := r.field(string(name)); to != nil && *to == "" && len(value) <= maxField {
			*to = text(value)
		}
	}
}

// readBlob reads a field that is no plain text. Of an oversized one it reads all
// and returns nothing.
func readBlob(reader *bufio.Reader) ([]byte, error) {
	var size [8]byte
	if _, err := io.ReadFull(reader, size[:]); err != nil {
		return nil, cut(err)
	}
	n := binary.LittleEndian.Uint64(size[:])
	if n > maxBlob {
		return nil, fmt.Errorf("a field of %d bytes is no field of an export", n)
	}
	var value []byte
	if n <= maxField {
		value = make([]byte, n)
		if _, err := io.ReadFull(reader, value); err != nil {
			return nil, cut(err)
		}
	} else if _, err := reader.Discard(int(n)); err != nil {
		return nil, cut(err)
	}
	switch end, err := reader.ReadByte(); {
	case err != nil:
		return nil, cut(err)
	case end != '\n':
		return nil, errors.New("no newline after a field of an export")
	}
	return value, nil
}

// cut names the end of the input where an entry is not over.
func cut(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errCut
	}
	return err
}
