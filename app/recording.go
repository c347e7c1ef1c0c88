package app

import (
	"context"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/recording"
)

// openRecording opens what the config says of recordings.
func (a *App) openRecording() error {
	c := a.config
	switch {
	case c.Record != "" && c.Replay != "":
		return invalid("replay", " sends nothing, so --record would have nothing to record")
	case c.Record == "" && len(c.RecordRedact) > 0 && a.env.Recorder == nil:
		return invalid("record-redact", " says what --record leaves out, which is not set")
	case c.Replay != "":
		calls, err := recording.Load(c.Replay)
		if err != nil {
			return invalid("replay", " %s: %v", c.Replay, err)
		}
		a.env.Player = recording.NewPlayer(recording.Exchanges(calls))
	case c.Record != "" && !a.env.DryRun:
		w, err := recording.Create(c.Record)
		if err != nil {
			return invalid("record", " %s: %v", c.Record, err)
		}
		a.open = append(a.open, w)
		a.env.Recorder, err = recording.NewRecorder(recording.Options{Redact: c.RecordRedact, Write: w.Write, Failed: a.notRecorded})
		if err != nil {
			return invalid("record-redact", ": %v", err)
		}
	}
	return nil
}

// notRecorded says that a call is not in the recording: an error, because a recording was
// asked for and commands that make one call show nothing less.
func (a *App) notRecorded(err error) { a.env.Logger.Error(err.Error()) }

// recorded has the requests of a tool recorded. Those of function apps are made by
// their worker.
func (a *App) recorded(source string, t *tenon.Tool) {
	rec := a.env.Recorder
	if rec == nil || t.Handler == nil || a.makesOwnRequests(source) {
		return
	}
	perform, name := t.Handler, t.Name
	t.Handler = func(ctx context.Context, c *tenon.Call) (tenon.Response, error) {
		if rec.Captures(ctx) {
			return perform(ctx, c)
		}
		ctx, capture := rec.Begin(ctx, source, name, c.Args)
		defer capture.End()
		return perform(ctx, c)
	}
}

func (a *App) makesOwnRequests(source string) bool {
	for _, s := range a.sources {
		if s.Name == source {
			return s.kind.ownRequests
		}
	}
	return false
}

// Unrecorded are the sources whose requests are not recorded: their workers make
// them.
func (a *App) Unrecorded() (names []string) {
	if a.env.Recorder == nil {
		return nil
	}
	for _, s := range a.Sources() {
		if a.makesOwnRequests(s.Name) {
			names = append(names, s.Name)
		}
	}
	return names
}

// recordedEnv is the environment for what is sent: its values are not recorded, and
// without need when nothing is sent.
func (e Env) recordedEnv() func(string) (string, bool) {
	switch {
	case e.Player != nil:
		return recording.Env
	case e.Recorder != nil:
		return func(name string) (string, bool) {
			value, ok := e.Getenv(name)
			e.Recorder.Secret(value)
			return value, ok
		}
	}
	return e.Getenv
}
