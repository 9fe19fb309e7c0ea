package plan

import "slices"

// This file is what services have to do with each other.

// relate leaves of each service's relations those that can be kept here: to
// the services that are read together.
func (s *set) relate(services []Service) {
	here := map[string]bool{}
	for _, service := range services {
		here[service.Name] = true
	}
	for i := range services {
		service := &services[i]
		for _, relation := range []struct {
			directive string
			names     *[]string
		}{{"After", &service.After}, {"Requires", &service.Requires}, {"Wants", &service.Wants}, {"PartOf", &service.PartOf}} {
			*relation.names = slices.DeleteFunc(*relation.names, func(name string) bool {
				gone := !here[name] || name == service.Name
				isSocket := suffix(name) == ".socket" && s.file(name) != nil // which is open before the service starts
				if gone && !isSocket {
					service.Ignored = append(service.Ignored, relation.directive+"="+name)
				}
				return gone
			})
		}
	}
	breakCycles(services)
}

// breakCycles drops an order that would have units wait for each other, as
// systemd does (systemd: src/core/transaction.c, transaction_verify_order).
func breakCycles(services []Service) {
	for i := range services {
		service := &services[i]
		service.After = slices.DeleteFunc(service.After, func(name string) bool {
			closes := comesAfter(services, name, service.Name, map[string]bool{})
			if closes {
				service.Ignored = append(service.Ignored, "After="+name)
			}
			return closes
		})
	}
}

// comesAfter says whether one unit is, by way of others, ordered after another.
func comesAfter(services []Service, name, other string, seen map[string]bool) bool {
	if seen[name] {
		return false
	}
	seen[name] = true
	i := slices.IndexFunc(services, func(s Service) bool { return s.Name == name })
	return i >= 0 && slices.ContainsFunc(services[i].After, func(before string) bool {
		return before == other || comesAfter(services, before, other, seen)
	})
}
