package lambda

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"syscall"
)

// machines are the processors that Lambda offers.
var machines = map[elf.Machine]string{elf.EM_X86_64: "amd64", elf.EM_AARCH64: "arm64"}

// checkBootstrap finds before the first invocation what would make every one
// fail: no file, no permission, built for another machine.
func checkBootstrap(path string) error {
	if path == "" {
		return errors.New("the path of the bootstrap is empty, expected the function's executable")
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("bootstrap %q does not exist, expected an executable; build it with `go build -o %s`", path, path)
	case err != nil:
		return fmt.Errorf("bootstrap: %w", err)
	case info.IsDir():
		return fmt.Errorf("bootstrap %q is a directory, expected the executable in it", path)
	case !info.Mode().IsRegular():
		return fmt.Errorf("bootstrap %q is not a file (%v), expected an executable", path, info.Mode().Type())
	case info.Mode().Perm()&0o111 == 0:
		return fmt.Errorf("bootstrap %q is not executable (mode %v); run `chmod +x %s`", path, info.Mode().Perm(), path)
	}
	return checkMachine(path)
}

// checkMachine reads the executable's header.
func checkMachine(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("bootstrap: %w", err)
	}
	defer file.Close()
	magic := make([]byte, 4)
	n, err := io.ReadFull(file, magic)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return fmt.Errorf("bootstrap %q: %w", path, err)
	}
	magic = magic[:n]
	isELF := bytes.Equal(magic, []byte(elf.ELFMAG))
	switch {
	case bytes.HasPrefix(magic, []byte("#!")):
		return nil
	case runtime.GOOS != "linux" && !isELF:
		return nil // exec tells
	case !isELF:
		return fmt.Errorf("bootstrap %q is no Linux executable; %s", path, buildHint())
	case runtime.GOOS != "linux":
		return fmt.Errorf("bootstrap %q is built for linux; %s", path, buildHint())
	}
	header, err := elf.NewFile(file)
	if err != nil {
		return fmt.Errorf("bootstrap %q is a damaged executable (%w); %s", path, err, buildHint())
	}
	defer header.Close()
	if arch, known := machines[header.Machine]; !known || arch != runtime.GOARCH {
		return fmt.Errorf("bootstrap %q is built for %v and this machine is %s; %s", path, header.Machine, runtime.GOARCH, buildHint())
	}
	return nil
}

func buildHint() string {
	return fmt.Sprintf("build it with GOOS=%s GOARCH=%s", runtime.GOOS, runtime.GOARCH)
}

// explainStart adds to the error of a start what to do about it. Create has
// checked the file, but it may have been replaced since.
func explainStart(path string, err error) error {
	switch {
	case errors.Is(err, syscall.ENOEXEC):
		return fmt.Errorf("%w: it is not for this machine; %s", err, buildHint())
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: it, or the interpreter that it names, does not exist; build it again", err)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w: run `chmod +x %s`", err, path)
	default:
		return err
	}
}
