package main

import (
	"context"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/svckit/svckit/history"
	"github.com/svckit/svckit/internal/restarts"
)

func forgetCommand(out output) *cli.Command {
	return &cli.Command{
		Name: "forget", Usage: forgetUsage, ArgsUsage: "UNIT", Description: forgetDescription,
		Flags:  basicFlags(),
		Action: func(c *cli.Context) error { return forget(c, out) },
	}
}

// forgetDocument is what `svcstat forget UNIT --json` prints: what was forgotten.
type forgetDocument struct {
	Schema int    `json:"schema"` // 1
	Unit   string `json:"unit"`   // full name

	Restarts int  `json:"restarts"` // that systemd had counted
	Failed   bool `json:"failed"`   // the unit had failed, and is inactive now
	// Failures are the failed runs that svcrun had counted; null where the unit's
	// svcrun counts none.
	Failures *int `json:"failures"`
}

func forget(c *cli.Context, out output) error {
	about, err := parseSubject(c)
	if err != nil {
		return err
	}
	asJSON, err := wantsJSON(c)
	if err != nil {
		return err
	}
	doc, err := forgotten(c.Context, about)
	switch {
	case doc.Schema == 0:
		return err
	case asJSON:
		if printed := writeJSON(out.stdout, doc); err == nil {
			err = printed
		}
		return err
	}
	if _, printed := io.WriteString(out.stdout, forgotText(doc)); err == nil {
		err = printed
	}
	return err
}

// forgotten has systemd and then the unit's svcrun forget. What systemd has
// forgotten is told with an error of svcrun's part, too.
func forgotten(ctx context.Context, about subject) (forgetDocument, error) {
	ctx, cancel := context.WithTimeout(ctx, busTimeout)
	defer cancel()
	conn, state, err := askBus(ctx, about)
	if conn != nil {
		defer conn.Close()
	}
	switch {
	case err != nil:
		return forgetDocument{}, err
	case state.LoadState == "not-found" && !state.Up():
		return forgetDocument{}, noSuchUnit(ctx, about.of, about.unit)
	}
	if err := conn.ResetFailed(ctx, about.unit); err != nil {
		return forgetDocument{}, err
	}
	doc := forgetDocument{Schema: schema, Unit: state.Unit, Restarts: state.NRestarts, Failed: state.ActiveState == "failed"}
	doc.Failures, err = forgetSvcrun(state)
	return doc, err
}

// forgetSvcrun has the unit's svcrun forget, where it remembers anything.
func forgetSvcrun(state history.State) (*int, error) {
	if state.Svcrun == nil || state.Svcrun.RuntimeDir == "" {
		return nil, nil
	}
	failures, err := restarts.Forget(state.Svcrun.RuntimeDir)
	if err != nil {
		return nil, fmt.Errorf("systemd has forgotten, but svcrun has not: %w", err)
	}
	return &failures, nil
}
