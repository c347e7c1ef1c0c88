package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// asWorker makes this program the worker of a function app: hostile in the manner
// that follows.
const asWorker = "act-as-worker"

// work is a worker on a bare socket, so that it can break every rule of HTTP. The
// name of a function says what it does. Only a polite one ends when it is asked to.
func work(manner string) {
	if manner != "polite" {
		signal.Ignore(syscall.SIGTERM)
	}
	switch manner {
	case "loop": // says where it starts, and dies
		f, err := os.OpenFile("starts", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err == nil {
			_, _ = f.WriteString("x")
			_ = f.Close()
		}
		fmt.Fprintln(os.Stderr, strings.Repeat("\x1b[2J\x1b[31mdying\a ", 1000))
		os.Exit(200)
	case "child": // outlives its parent
		time.Sleep(time.Hour)
	}
	l, err := net.Listen("tcp", "127.0.0.1:"+os.Getenv("FUNCTIONS_CUSTOMHANDLER_PORT"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer func() { _ = c.Close() }()
			in := bufio.NewReader(c)
			for {
				r, err := http.ReadRequest(in)
				if err != nil {
					return
				}
				_, _ = io.Copy(io.Discard, r.Body)
				if !misbehave(c, strings.Trim(r.URL.Path, "/"), l) {
					return
				}
			}
		}()
	}
}

// plain is a whole answer of a function.
func plain(value string) string { return withType("application/json", `{"ReturnValue":`+value+`}`) }

func withType(media, body string) string {
	return "HTTP/1.1 200 OK\r\nContent-Type: " + media + "\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body
}

// endless writes the same again and again, until nobody reads.
func endless(c net.Conn, head, again string, pause time.Duration) {
	_, err := io.WriteString(c, head)
	if pause == 0 {
		again = strings.Repeat(again, 1+(64<<10)/len(again))
	}
	for err == nil {
		_, err = io.WriteString(c, again)
		time.Sleep(pause)
	}
}

const head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"

// misbehave answers a call; false: the connection is over.
func misbehave(c net.Conn, function string, l net.Listener) (goesOn bool) {
	answer := func(text string) bool { _, err := io.WriteString(c, text); return err == nil }
	switch function {
	case "": // whether the worker is there
		return answer("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
	case "Good":
		return answer(plain(`"good"`))
	case "EndlessBody":
		endless(c, head+"\r\n"+`{"ReturnValue":"`, "x", 0)
	case "EndlessHead":
		endless(c, head, "X-Endless: yes\r\n", 0)
	case "EndlessStatus":
		endless(c, "HTTP/1.1 \x1b[31m", "200", 0)
	case "Informing":
		endless(c, "", "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n", 0)
	case "Never":
		time.Sleep(time.Hour)
	case "Drip":
		endless(c, head+"Content-Length: 1000000\r\n\r\n", " ", 100*time.Millisecond)
	case "DripHead":
		endless(c, "HTTP/1.1 200 ", "O", 100*time.Millisecond)
	case "TooLong": // more is announced than comes
		answer(head + "Content-Length: 1000\r\n\r\n" + `{"ReturnValue":"cut"}`)
	case "Forged": // behind the answer stands one for the next caller
		return answer(plain(`"own"`) + plain(`"forged"`))
	case "TwoLengths":
		answer(head + "Content-Length: 5\r\nContent-Length: 21\r\n\r\n" + `{"ReturnValue":"two"}`)
	case "BadChunk":
		answer(head + "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n" + `{"ReturnValue":"chunk"}`)
	case "Bomb":
		var b bytes.Buffer
		w, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed)
		for range 128 {
			_, _ = w.Write(make([]byte, 1<<20))
		}
		_ = w.Close()
		return answer(head + "Content-Encoding: gzip\r\nContent-Length: " + strconv.Itoa(b.Len()) + "\r\n\r\n" + b.String())
	case "Outside":
		return answer("HTTP/1.1 302 Found\r\nLocation: http://" + os.Getenv("CANARY") + "/outside\r\nContent-Length: 0\r\n\r\n")
	case "OutsideAgain":
		return answer("HTTP/1.1 307 Temporary Redirect\r\nLocation: http://" + os.Getenv("CANARY") + "/again\r\nContent-Length: 0\r\n\r\n")
	case "LocalFile":
		return answer("HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n\r\n")
	case "Environment":
		all, _ := json.Marshal(strings.Join(os.Environ(), "\n"))
		return answer(plain(string(all)))
	case "Flat": // as many values as an answer may have
		return answer(withType("application/json", `{"ReturnValue":[`+strings.Repeat("1,", 15<<20)+`1]}`))
	case "ManyLogs":
		return answer(withType("application/json", `{"Logs":["`+strings.Repeat("y", 8<<20)+`"`+strings.Repeat(`,"a\u001b[31m line"`, 1<<19)+`],"ReturnValue":"logged"}`))
	default:
		return answerWrong(answer, function) || act(c, function, l)
	}
	return false
}

// answerWrong answers by what is not the JSON of an answer.
func answerWrong(answer func(string) bool, function string) bool {
	deep := strings.Repeat("[", 1e6) + strings.Repeat("]", 1e6)
	body, known := map[string]string{
		"Cut":       `{"ReturnValue":"cu`,
		"Markup":    "<html>\x1b[31m</html>",
		"Twice":     `{"ReturnValue":"first","ReturnValue":"second"}`,
		"Deep":      `{"ReturnValue":` + deep + `}`,
		"Surrogate": `{"ReturnValue":"\ud800 half"}`,
		"Number":    `{"ReturnValue":1e400}`,
		"Nothing":   "",
		"Binary":    "\x00\xff\xfe\x1b]0;title\a",
	}[function]
	return known && answer(withType("application/json", body))
}

// act does something else than to answer.
func act(c net.Conn, function string, l net.Listener) (goesOn bool) {
	switch function {
	case "Exit":
		os.Exit(3)
	case "ExitInside":
		_, _ = io.WriteString(c, head+"Content-Length: 1000\r\n\r\n"+`{"ReturnValue":"`)
		os.Exit(4)
	case "Fork": // children keep the output and the port, one of them in a session of its own
		if tcp, ok := l.(*net.TCPListener); ok {
			port, err := tcp.File()
			if err == nil {
				for _, own := range []bool{false, true} {
					child := exec.Command(os.Args[0], asWorker, "child")
					child.Stdout, child.Stderr, child.ExtraFiles = os.Stdout, os.Stderr, []*os.File{port}
					child.SysProcAttr = &syscall.SysProcAttr{Setsid: own}
					_ = child.Start()
				}
			}
		}
		os.Exit(5)
	case "Flood": // lines, and then one without an end
		for _, to := range []*os.File{os.Stdout, os.Stderr} {
			var lines []byte
			for n := 0; n < floodBytes; n += len(lines) {
				lines = lines[:0]
				for i := range 1000 {
					lines = fmt.Appendf(lines, "\x1b[31mnoise error %d\x1b[0m\a of a worker that does not end to say the same\n", n+i)
				}
				_, _ = to.Write(lines)
			}
			endless := bytes.Repeat([]byte("\x1b[31mx"), 1<<18)
			for range floodBytes / len(endless) {
				_, _ = to.Write(endless)
			}
		}
		_, err := io.WriteString(c, plain(`"flooded"`))
		return err == nil
	}
	return false
}

// floodBytes is what a flood writes to each of its streams, and then again in one
// line.
const floodBytes = 32 << 20
