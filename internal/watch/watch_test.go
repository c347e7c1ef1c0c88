package watch_test

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/tenon-mcp/tenon/internal/watch"
)

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func wait(t *testing.T, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(time.Minute):
		t.Fatal("the change was never told")
	}
}

// start watches files; what was told last is what the next must differ from.
func start(t *testing.T, held watch.Sums, paths func() []string) (told chan struct{}) {
	told = make(chan struct{}, 100)
	ctx, cancel := context.WithCancel(t.Context())
	var mu sync.Mutex
	var ended sync.WaitGroup
	list := paths
	if list == nil {
		list = func() []string {
			mu.Lock()
			defer mu.Unlock()
			var names []string
			for name := range held {
				names = append(names, name)
			}
			return names
		}
	}
	f := watch.Files{Paths: paths, Interval: 200 * time.Millisecond, Settle: 5 * time.Millisecond, Recorded: func() watch.Sums {
		mu.Lock()
		defer mu.Unlock()
		return held
	}}
	ended.Go(func() {
		err := f.Watch(ctx, func() {
			now := watch.Read(list())
			mu.Lock()
			held = now
			mu.Unlock()
			told <- struct{}{}
		})
		if err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { cancel(); ended.Wait() })
	return told
}

func TestEveryWayInWhichAFileChanges(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a")
	write(t, file, "one")
	held := watch.Sums{file: watch.SumOf([]byte("before one"))} // it changed before anybody watched
	told := start(t, held, nil)
	wait(t, told)
	write(t, file, "two") // of the same length
	wait(t, told)
	write(t, file+".new", "three")
	if err := os.Rename(file+".new", file); err != nil {
		t.Fatal(err)
	}
	wait(t, told)
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	wait(t, told)
	write(t, file, "four")
	wait(t, told)
}

func TestALinkThatIsPointedElsewhere(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "one"), "1")
	write(t, filepath.Join(dir, "two"), "2")
	link := filepath.Join(dir, "link")
	if err := os.Symlink("one", link); err != nil {
		t.Skip(err)
	}
	told := start(t, watch.Read([]string{link}), nil)
	if err := os.Symlink("two", link+".new"); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(link+".new", link); err != nil {
		t.Fatal(err)
	}
	wait(t, told)
}

func TestFilesAppearInFolders(t *testing.T) {
	dir := t.TempDir()
	paths := func() []string {
		found, _ := filepath.Glob(filepath.Join(dir, "*", "*"))
		folders, _ := filepath.Glob(filepath.Join(dir, "*"))
		return append(append(found, folders...), dir)
	}
	told := start(t, watch.Read(paths()), paths)
	if err := os.Mkdir(filepath.Join(dir, "new"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "new", "file"), "text")
	wait(t, told)
	if err := os.RemoveAll(filepath.Join(dir, "new")); err != nil {
		t.Fatal(err)
	}
	wait(t, told)
}

func TestWhatIsTheSameIsNotTold(t *testing.T) {
	dir := t.TempDir()
	same, other := filepath.Join(dir, "same"), filepath.Join(dir, "other")
	write(t, same, "text")
	write(t, other, "1")
	told := start(t, watch.Read([]string{same}), nil)
	also := start(t, watch.Read([]string{other}), nil)
	write(t, same+".new", "text")
	if err := os.Rename(same+".new", same); err != nil { // at no moment it holds something else
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "stranger"), "text")
	write(t, other, "2")
	wait(t, also) // the looks after the writing went over both
	select {
	case <-told:
		t.Error("a file that holds what it held was told as changed")
	default:
	}
}
