package redis

import (
	"crypto/tls"
	"errors"
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
)

const (
	defaultPort         = "6379"
	defaultSentinelPort = "26379"
	maxHosts            = 32
)

// address is a URL of a store.
type address struct {
	hosts    []string // with ports
	user     string
	master   string // of sentinels; empty: they are none
	database int
	cluster  bool
	tls      bool
}

// Check says what is wrong with the URL of a store. It connects to nothing.
func Check(text string) error {
	_, err := parse(text)
	return err
}

// parse reads a URL. Its errors do not repeat it: somebody may have written a
// password there.
func parse(text string) (*address, error) {
	const forms = "redis://HOST:PORT/DATABASE, rediss:// with TLS, redis+cluster://HOST,HOST or redis+sentinel://HOST,HOST/NAME"
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok {
		return nil, errors.New("it wants " + forms)
	}
	base, kind, _ := strings.Cut(scheme, "+")
	if base != "redis" && base != "rediss" || kind != "" && kind != "cluster" && kind != "sentinel" || strings.ContainsAny(rest, "?#") {
		return nil, errors.New("it wants " + forms)
	}
	a := &address{tls: base == "rediss", cluster: kind == "cluster"}
	rest, err := a.readUser(rest)
	if err != nil {
		return nil, err
	}
	hosts, path, _ := strings.Cut(rest, "/")
	if kind == "sentinel" {
		if a.master, path, _ = strings.Cut(path, "/"); a.master == "" {
			return nil, errors.New("behind the sentinels stands the name of the servers that they watch, as redis+sentinel://HOST,HOST/NAME")
		}
	}
	if path != "" {
		if a.database, err = strconv.Atoi(path); err != nil || a.database < 0 || a.cluster {
			return nil, errors.New("the database is a number, and a cluster has none")
		}
	}
	if err := a.readHosts(hosts); err != nil {
		return nil, err
	}
	if kind == "" && len(a.hosts) > 1 {
		return nil, errors.New("several hosts are a redis+cluster:// or redis+sentinel://")
	}
	return a, nil
}

// readUser reads the name before the @, and returns what is behind it.
func (a *address) readUser(text string) (rest string, err error) {
	i := strings.LastIndexByte(text, '@')
	if i < 0 {
		return text, nil
	}
	a.user, err = url.PathUnescape(text[:i])
	if err != nil || a.user == "" || strings.Contains(text[:i], ":") {
		return "", errors.New("only the name of a user stands before the @; the password does not belong into the URL")
	}
	return text[i+1:], nil
}

// readHosts reads HOST[:PORT],...
func (a *address) readHosts(text string) error {
	port := defaultPort
	if a.master != "" {
		port = defaultSentinelPort
	}
	for host := range strings.SplitSeq(text, ",") {
		if host == "" || len(a.hosts) == maxHosts {
			return errors.New("it wants 1 to 32 hosts")
		}
		if _, _, err := net.SplitHostPort(host); err != nil {
			host = net.JoinHostPort(strings.Trim(host, "[]"), port)
		}
		a.hosts = append(a.hosts, host)
	}
	return nil
}

// String is the address as it may be shown.
func (a *address) String() string { return strings.Join(a.hosts, ",") }

func (a *address) client(o Options) redis.UniversalClient {
	u := &redis.UniversalOptions{
		Addrs: a.hosts, DB: a.database, Username: a.user, Password: o.Password, MasterName: a.master, IsClusterMode: a.cluster,
		DialTimeout: o.Timeout, ReadTimeout: o.Timeout, WriteTimeout: o.Timeout, ContextTimeoutEnabled: true,
	}
	if a.tls {
		u.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12}
		if len(a.hosts) == 1 {
			u.TLSConfig.ServerName, _, _ = net.SplitHostPort(a.hosts[0])
		}
	}
	return redis.NewUniversalClient(u)
}
