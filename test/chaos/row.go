//go:build linux

package main

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

const (
	sqlite   = "SQLite"
	postgres = "PostgreSQL"
	// byFar is how many times a kept goal must be missed to fail the run: a busy
	// machine is no bug.
	byFar = 3
	// settling is how long what was paid may wait to be settled, in every trial: a
	// process that dies leaves the lease of a check, which ends after half a minute.
	settling = 35 * time.Second
)

// trial is one fault and what must be true of it.
type trial struct {
	number   string // of what must be true, in the issue that asked for it
	name     string
	database string
	short    bool // part of the short form
	goal     goal
	repeats  int              // deliveries that may come once more
	prepare  func(*lab) error // before the company is made
	run      func(*lab) error
}

// goal is how long something may stand still.
type goal struct {
	most time.Duration
	of   what
	kept bool // a miss by far fails the run
}

// what a goal is about.
type what string

const (
	everything what = "writes and deliveries"
	deliveries what = "deliveries"
	writing    what = "writes"
	special    what = "" // what the trial says
)

// row is what a trial counted.
type row struct {
	trial    trial
	acked    int
	payments int
	lost     int
	doubled  int
	repeated int
	wrong    []string // what was lost or doubled
	refused  []string
	writes   time.Duration
	arrivals time.Duration
	settled  time.Duration
	value    time.Duration
	measured string
	ended    []string
	skipped  string
	note     string // what should not have been, and fails nothing
	err      error
}

// skip is the error of a trial that this machine does not allow.
type skip string

// Error implements error.
func (s skip) Error() string { return string(s) }

// merge takes over what was counted.
func (r *row) merge(lab *lab) {
	if s, ok := errors.AsType[skip](r.err); ok {
		r.skipped, r.err = string(s), nil
		return
	}
	r.measured, r.value, r.ended = lab.measured, lab.value, lab.ended
	if lab.load == nil {
		return
	}
	writes, payments := lab.load.snapshot()
	var acks []time.Time
	for _, write := range writes {
		if !write.acked.IsZero() {
			acks, r.acked = append(acks, write.acked), r.acked+1
		}
		if write.refused != "" {
			r.refused = append(r.refused, write.name+": "+write.refused)
		}
	}
	for _, p := range payments {
		if !p.settled.IsZero() {
			r.payments++
		}
	}
	if n := lab.load.internal; n > 0 {
		r.note = fmt.Sprintf("%d answers of 500, such as %s", n, lab.reasonOf500())
	}
	r.repeated = lab.receiver.repeated()
	r.writes = longestGap(lab.hurtAt, acks)
	r.arrivals = slowest(lab.hurtAt, writes, lab.receiver.arrivals())
	if lab.gone {
		r.lost, r.wrong = lab.lost, lab.wrong
		return
	}
	r.settled = slowestSettlement(lab.hurtAt, payments)
	books, err := lab.books()
	if err != nil {
		r.err = errors.Join(r.err, err)
		return
	}
	r.compare(writes, payments, books)
	if most := lab.load.begun; books.charges > most {
		r.double(fmt.Sprintf("%d charges at the bank for %d payers", books.charges, most))
	}
	if books.imported != lab.imported {
		r.lose(fmt.Sprintf("%d of %d imported customers", books.imported, lab.imported))
	}
}

// reached is what the goal is measured by.
func (r row) reached() time.Duration {
	switch r.trial.goal.of {
	case everything:
		return max(r.writes, r.arrivals)
	case deliveries:
		return r.arrivals
	case writing:
		return r.writes
	case special:
	}
	return r.value
}

func (r row) met() bool {
	return r.err == nil && r.reached() <= r.trial.goal.most && r.settled <= settling
}

// verdict is what fails a run: something lost or doubled, deliveries that came again
// without a reason, an unexpected answer, or a kept goal that was missed by far.
func (r row) verdict() error {
	name := r.trial.name + " on " + r.trial.database
	switch {
	case r.skipped != "":
		return nil
	case r.doubled > 0, r.lost > 0 && !r.trial.mayLose():
		return fmt.Errorf("%s: %d acknowledged and %d paid, of which %d are lost and %d doubled: %q",
			name, r.acked, r.payments, r.lost, r.doubled, r.wrong)
	case r.repeated > r.trial.repeats:
		return fmt.Errorf("%s: %d deliveries came again, at most %d may", name, r.repeated, r.trial.repeats)
	case len(r.refused) > 0:
		return fmt.Errorf("%s: %d writes refused, such as %s", name, len(r.refused), r.refused[0])
	case len(r.ended) > 0:
		return fmt.Errorf("%s: processes ended by themselves: %s", name, strings.Join(r.ended, ", "))
	case r.trial.goal.kept && r.err != nil:
		return fmt.Errorf("%s: %w", name, r.err)
	case r.settled > byFar*settling:
		return fmt.Errorf("%s: settlement stood still for %s, and the goal is %s", name, seconds(r.settled), settling)
	case r.trial.goal.kept && r.reached() > byFar*r.trial.goal.most:
		return fmt.Errorf("%s: %s, and the goal is %s", name, r.reached().Round(time.Millisecond), r.trial.goal.most)
	}
	return nil
}

// mayLose is true where the files are taken away from under the program: what
// is acknowledged before it notices is lost, as the documents say.
func (t trial) mayLose() bool { return t.number == "6" }

func (r row) line() string {
	if r.skipped != "" {
		return fmt.Sprintf("%s: not run, %s", r.trial.name, r.skipped)
	}
	text := fmt.Sprintf("%s: %d acknowledged, %d paid, %d lost, %d doubled, %d repeated; stood still: writes %s, deliveries %s, settlement %s",
		r.trial.name, r.acked, r.payments, r.lost, r.doubled, r.repeated, seconds(r.writes), seconds(r.arrivals), seconds(r.settled))
	if r.measured != "" {
		text += "; " + r.measured
	}
	if r.note != "" {
		text += "; " + r.note
	}
	if r.err != nil {
		text += "\n" + r.err.Error()
	}
	return text
}

func seconds(span time.Duration) string { return fmt.Sprintf("%.1f s", span.Seconds()) }

// table is what docs/reliability.md shows.
func table(rows []row) string {
	var out strings.Builder
	out.WriteString("| fault | database | acknowledged | paid | lost | doubled | repeated deliveries " +
		"| writes | deliveries | settlement | goal | |\n" +
		"|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, row := range rows {
		if row.skipped != "" {
			fmt.Fprintf(&out, "| %s (%s) | %s | not run: %s | | | | | | | | | |\n",
				row.trial.name, row.trial.number, row.trial.database, row.skipped)
			continue
		}
		fmt.Fprintf(&out, "| %s (%s) | %s | %d | %d | %d | %d | %d | %s | %s | %s | %s | %s |\n",
			row.trial.name, row.trial.number, row.trial.database, row.acked, row.payments, row.lost, row.doubled, row.repeated,
			seconds(row.writes), seconds(row.arrivals), seconds(row.settled), row.goalText(), row.mark())
	}
	return out.String()
}

func (r row) goalText() string {
	text := r.trial.goal.most.String()
	if r.trial.goal.of != special {
		return string(r.trial.goal.of) + " within " + text
	}
	return r.measured + ", goal " + text
}

func (r row) mark() string {
	switch {
	case r.met():
		return "met"
	case r.err != nil:
		return "**missed**: " + strings.SplitN(r.err.Error(), "\n", 2)[0]
	}
	return "**missed**"
}
