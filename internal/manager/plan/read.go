package plan

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/svckit/svckit/unitgen"
	"github.com/svckit/svckit/unitgen/unit"
)

// set is the units that are read together.
type set struct {
	files  []unitgen.File
	system System
	target unitgen.Target
}

// maxServices bounds how many services the units of OnFailure= and the like
// can bring along, each an instance of a template that names itself.
const maxServices = 256

// Read reads what Generate has written for the services of a policy file: all
// their units together, in that order. Templates are read as the given
// instances, and as those that others name.
func Read(files []unitgen.File, target unitgen.Target, system System, instances ...string) ([]Service, error) {
	s := &set{files: files, target: target, system: system}
	names, err := s.names(instances)
	if err != nil {
		return nil, err
	}
	var services []Service
	for i := 0; i < len(names); i++ {
		if i == maxServices {
			return nil, fmt.Errorf("%s is unit %d of one file; svcgen run manages %d at most", names[i], i+1, maxServices)
		}
		service, err := s.readService(names[i], s.file(names[i]))
		if err != nil {
			return nil, err
		}
		if service.Surroundings.Sockets, err = s.socketsOf(names[i]); err != nil {
			return nil, err
		}
		services = append(services, service)
		names = s.named(service, names)
	}
	if len(services) == 0 {
		return nil, errors.New("there is no service in it")
	}
	s.relate(services)
	return services, nil
}

// names are the services to read: all but templates that nobody gives an
// instance, and companions.
func (s *set) names(instances []string) ([]string, error) {
	var names, templates []string
	for _, f := range s.files {
		switch {
		case f.Unit == nil || suffix(f.Name) != ".service" || s.isCompanion(f.Name):
		case !isTemplate(f.Name):
			names = append(names, f.Name)
		default:
			templates = append(templates, f.Name)
			for _, instance := range instances {
				name := instanceOf(f.Name, instance)
				if err := checkInstance(name, instance); err != nil {
					return nil, err
				}
				names = append(names, name)
			}
		}
	}
	switch {
	case len(templates) == 0 && len(instances) > 0:
		return nil, fmt.Errorf("instance %s: there is no template in it; a template's name ends in @", instances[0])
	case len(templates) > 0 && len(names) == 0:
		return nil, fmt.Errorf("%s is a template; say as which instances it is run", templates[0])
	}
	return names, nil
}

// named adds the instances that a service names of templates that are here.
func (s *set) named(service Service, names []string) []string {
	for _, name := range slices.Concat(service.OnFail, service.Requires, service.Wants) {
		if suffix(name) == ".service" && namesOf(s.system, name).template != name && s.file(name) != nil && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// file is the unit of a name, or else of its template; nil if there is none.
func (s *set) file(name string) *unit.File {
	for _, wanted := range []string{name, namesOf(s.system, name).template} {
		for _, f := range s.files {
			if f.Name == wanted && f.Unit != nil {
				return f.Unit
			}
		}
	}
	return nil
}

func isTemplate(name string) bool { return strings.HasSuffix(bare(name), "@") }

// longestName is how long the name of a unit may be (systemd.unit(5)).
const longestName = 255

// checkInstance refuses an instance that no unit can be of (systemd.unit(5)).
func checkInstance(name, instance string) error {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:-_.\\@"
	switch {
	case instance == "" || strings.Trim(instance, letters) != "":
		return fmt.Errorf("instance %q: a name has letters, digits and :-_.\\@ alone; systemd-escape(1) makes one of any text", instance)
	case len(name) > longestName:
		return fmt.Errorf("instance %.20s…: the unit's name has %d characters, and may have %d", instance, len(name), longestName)
	}
	return nil
}

func instanceOf(template, instance string) string {
	return strings.Replace(template, "@.", "@"+instance+".", 1)
}

// companionTimer is the timer that a command of ExecStartPost= starts, as
// svcgen writes it for managers that forget failures on demand only.
func companionTimer(command string) (string, bool) {
	words := strings.Fields(command)
	if len(words) < 3 || !strings.HasSuffix(words[0], "systemctl") || words[len(words)-2] != "restart" {
		return "", false
	}
	timer := words[len(words)-1]
	return timer, strings.HasSuffix(timer, "-settle.timer") || strings.HasSuffix(timer, "-settle@%i.timer")
}

// isCompanion says whether a unit is another one's companion, which the
// machine plays itself.
func (s *set) isCompanion(name string) bool {
	for _, f := range s.files {
		if f.Unit == nil || suffix(f.Name) != ".service" {
			continue
		}
		for _, command := range values(f.Unit, "Service", "ExecStartPost") {
			timer, ok := companionTimer(command)
			if ok && strings.Replace(bare(timer), "@%i", "@", 1) == bare(name) {
				return true
			}
		}
	}
	return false
}

// settleTime reads when the companion timer elapses.
func settleTime(timer *unit.File, into *time.Duration) error {
	spans := values(timer, "Timer", "OnActiveSec")
	if len(spans) != 1 {
		return fmt.Errorf("the companion timer has %d OnActiveSec=, and should have one", len(spans))
	}
	return span(spans[0], into)
}

// values are those of a directive in a section, which need not be there.
func values(file *unit.File, section, directive string) []string {
	var all []string
	for _, s := range file.Sections {
		if s.Name == section {
			all = append(all, s.Lookup(directive)...)
		}
	}
	return all
}

// socketsOf are the sockets of a service.
func (s *set) socketsOf(service string) ([]Socket, error) {
	var all []Socket
	own := namesOf(s.system, service)
	for _, f := range s.files {
		if f.Unit == nil || suffix(f.Name) != ".socket" {
			continue
		}
		name := f.Name
		if isTemplate(name) {
			name = instanceOf(name, own.instance)
		}
		r := &reader{set: s, names: namesOf(s.system, name), service: &Service{}, socket: Socket{Name: name, Mode: defaultSocketMode}}
		if err := r.read(f.Unit); err != nil {
			return nil, err
		}
		if r.socketOf == "" {
			r.socketOf = bare(name) + ".service"
		}
		if r.socketOf != service {
			continue
		}
		for _, socket := range r.sockets {
			socket.Name, socket.Mode, socket.User, socket.Group = r.socket.Name, r.socket.Mode, r.socket.User, r.socket.Group
			all = append(all, socket)
		}
	}
	return all, nil
}
