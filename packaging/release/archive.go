package main

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"
)

// archive writes a directory as a tarball with one directory at its top. Owner
// and times are the same for all, the order is that of the names.
func archive(w io.Writer, dir, top string, when time.Time) error {
	packed, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	out := tar.NewWriter(packed)
	tree := os.DirFS(dir)
	err = fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		header := &tar.Header{Name: path.Join(top, name), Mode: 0o644, ModTime: when, Uname: "root", Gname: "root", Format: tar.FormatPAX}
		switch {
		case info.IsDir():
			header.Typeflag, header.Mode, header.Name = tar.TypeDir, 0o755, header.Name+"/"
			return out.WriteHeader(header)
		case info.Mode()&0o111 != 0:
			header.Mode = 0o755
		}
		header.Typeflag, header.Size = tar.TypeReg, info.Size()
		return addFile(out, header, tree, name)
	})
	return errors.Join(err, out.Close(), packed.Close())
}

func addFile(out *tar.Writer, header *tar.Header, tree fs.FS, name string) error {
	file, err := tree.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := out.WriteHeader(header); err != nil {
		return err
	}
	_, err = io.Copy(out, file)
	return err
}

// sums writes the sums of files as sha256sum(1) does and checks them.
func sums(w io.Writer, dir string, names []string) error {
	for _, name := range slices.Sorted(slices.Values(names)) {
		sum, err := sumOf(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(w, "%s  %s\n", sum, name); err != nil {
			return err
		}
	}
	return nil
}

// sumOf is the SHA-256 of a file.
func sumOf(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}
