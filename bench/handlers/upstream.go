package main

import (
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// upstream answers lists of coins of about the bytes that are asked for. No
// coin is like another.
func upstream() (address string, stop func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	answers := map[string][]byte{}
	for _, size := range []int{smallSize, largeSize} {
		answers[strconv.Itoa(size)] = coins(size)
	}
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(answers[r.URL.Query().Get("size")])
	})}
	go func() { _ = server.Serve(l) }()
	return "http://" + l.Addr().String(), func() { _ = server.Close() }, nil
}

func coins(size int) []byte {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		n := i * 7919 % 100_003
		fmt.Fprintf(&b, `%c{"id":"coin-%d","symbol":"c%d","name":"Stable coin %d","current_price":%d.%d,"market_cap":%d,"market_cap_rank":%d,"roi":null,"ath_date":"20%02d-07-%02dT00:00:00.000Z","c":true,"pad":"%d%s"}`,
			"[,"[min(i, 1)], n, n, n, n, i, n*1009, i, 10+n%15, 1+n%28, n, strings.Repeat("x", 430))
	}
	b.WriteByte(']')
	return []byte(b.String())
}
