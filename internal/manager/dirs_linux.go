package manager

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/svckit/svckit/internal/manager/plan"
)

// The statuses of what cannot be set up, as systemd has them (systemd.exec(5)).
const (
	statusChdir       = 200
	statusExec        = 203
	statusUser        = 217
	statusRuntimeDir  = 233
	statusStateDir    = 238
	statusCacheDir    = 239
	statusLogsDir     = 240
	statusConfigDir   = 241
	statusCredentials = 243
)

// startError is why a process could not be started.
type startError struct {
	status int // that a child of systemd's would exit with; 0 for none
	err    error
}

func (e *startError) Error() string { return e.err.Error() }

func (e *startError) Unwrap() error { return e.err }

// dirStatus is the status by the variable that names the directory.
func dirStatus(variable string) int {
	switch variable {
	case "RUNTIME_DIRECTORY":
		return statusRuntimeDir
	case "CACHE_DIRECTORY":
		return statusCacheDir
	case "LOGS_DIRECTORY":
		return statusLogsDir
	case "CONFIGURATION_DIRECTORY":
		return statusConfigDir
	}
	return statusStateDir
}

// makeDirs makes the service's directories, which belong to whom it runs as. It
// returns the first of svcrun's own that could not be made: svcrun does without.
func makeDirs(dirs []plan.Dir, who identity) (without, err error) {
	for _, d := range dirs {
		err := makeDir(d.Path, who)
		switch {
		case err == nil:
		case !isSvcruns(d.Path):
			return without, &startError{dirStatus(d.Variable), fmt.Errorf("cannot make a directory of the service: %w", err)}
		case without == nil:
			without = err
		}
	}
	return without, nil
}

// isSvcruns says whether a directory is one that svcgen gives svcrun.
func isSvcruns(path string) bool { return filepath.Base(filepath.Dir(path)) == "svckit" }

// The directory above may vanish while one is made, again and again: that is
// tried anew after a moment, and within a bound.
const (
	makePause = time.Millisecond
	makeBound = time.Second
)

// makeDir makes a directory that belongs to whom the service runs as. The one
// above may be svckit's, which whoever finds it empty removes.
func makeDir(path string, who identity) error {
	err := os.MkdirAll(path, 0o755)
	for began := time.Now(); (errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrExist)) && time.Since(began) < makeBound; {
		<-time.After(makePause)
		err = os.MkdirAll(path, 0o755)
	}
	if err != nil {
		return err
	}
	if who.credential == nil {
		return nil
	}
	return os.Lchown(path, int(who.credential.Uid), int(who.credential.Gid))
}

// removeDirs removes the runtime directories of a service that is down for good,
// and those above them that are svckit's own and empty.
func removeDirs(dirs []plan.Dir) {
	for _, d := range dirs {
		if !d.Runtime {
			continue
		}
		_ = os.RemoveAll(d.Path)
		if isSvcruns(d.Path) {
			_ = os.Remove(filepath.Dir(d.Path))
		}
	}
}

// maxCredential bounds a credential (systemd: src/basic/creds-util.h,
// CREDENTIAL_SIZE_MAX).
const maxCredential = 1 << 20

// giveCredentials copies credentials to where the service alone can read them.
func giveCredentials(dir string, all []plan.Credential, secrets map[string][]byte, who identity) error {
	if len(all) == 0 {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o711); err != nil {
		return err
	}
	takeCredentials(dir)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	for _, c := range all {
		text, ok := secrets[c.Path]
		if !ok {
			var err error
			if text, err = readBounded(c.Path, maxCredential); err != nil {
				return fmt.Errorf("credential %s: %w", c.Name, err)
			}
		}
		if err := giveFile(filepath.Join(dir, c.Name), text, who); err != nil {
			return err
		}
	}
	if who.credential != nil {
		if err := os.Chown(dir, int(who.credential.Uid), int(who.credential.Gid)); err != nil {
			return err
		}
	}
	return os.Chmod(dir, 0o500)
}

// takeCredentials removes what giveCredentials has made.
func takeCredentials(dir string) {
	_ = os.Chmod(dir, 0o700) // or nobody but root could
	_ = os.RemoveAll(dir)
}

// giveFile writes a file for the service's eyes only.
func giveFile(path string, text []byte, who identity) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o400)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err == nil && who.credential != nil {
		err = file.Chown(int(who.credential.Uid), int(who.credential.Gid))
	}
	return errors.Join(err, file.Close())
}

// readBounded reads a file of at most so many bytes. A pipe or a device might
// have it wait for ever.
func readBounded(path string, most int64) ([]byte, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() && path != os.DevNull {
		err = fmt.Errorf("%s is no plain file", path)
	}
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(file, most+1))
	if err == nil && int64(len(text)) > most {
		return nil, fmt.Errorf("%s has more than %d bytes", path, most)
	}
	return text, err
}

// readEnvFiles reads the files of variables, at each start anew.
func readEnvFiles(files []string) ([]string, error) {
	var env []string
	for _, file := range files {
		pattern, optional := strings.CutPrefix(file, "-")
		paths, err := filepath.Glob(pattern)
		if err != nil || len(paths) == 0 {
			paths = []string{pattern}
		}
		for _, path := range paths {
			found, err := readEnvFile(path)
			if err != nil && !(optional && errors.Is(err, fs.ErrNotExist)) {
				return nil, fmt.Errorf("cannot read the variables: %w", err)
			}
			env = append(env, found...)
		}
	}
	return env, nil
}

func readEnvFile(path string) ([]string, error) {
	text, err := readBounded(path, maxEnvFile)
	if err != nil {
		return nil, err
	}
	env, err := parseEnvFile(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return env, nil
}
