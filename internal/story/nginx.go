package story

import (
	"context"
	"strings"
)

// What the chapter about a stop under load asks for: an answer that takes about
// two seconds, because nginx is told to send it that slowly.
const (
	SlowURL   = "http://127.0.0.1:8085/slow"
	SlowBytes = 8 << 10
	slowSite  = `server {
	listen 127.0.0.1:8085;
	location = /slow { alias /srv/slow; limit_rate 4k; }
}
`
)

// CrashTimes is how often the chapter about crashes kills the service.
const CrashTimes = 6

// DeployNginx is Deploy for nginx, with a site that answers slowly beside
// Debian's own.
func (s *Stage) DeployNginx(ctx context.Context) (*Service, error) {
	if err := s.Machine.WriteFile("/etc/nginx/conf.d/slow.conf", []byte(slowSite), 0o644); err != nil {
		return nil, err
	}
	if err := s.Machine.WriteFile("/srv/slow", []byte(strings.Repeat("x", SlowBytes)), 0o644); err != nil {
		return nil, err
	}
	return s.Deploy(ctx, "nginx")
}

// Markers are in the command line of every process of the services that do not
// want to stop, for pgrep --full.
var Markers = map[string]string{"stubborn": "sleep 86401", "escape": "sleep 8640[2-4]"}
