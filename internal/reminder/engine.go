package reminder

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/id"
	"carteira/internal/platform/rows"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/worker"
)

const (
	// laneCap is how many messages of one channel are under way at once: the
	// most that one which hangs can take from the others.
	laneCap = 4
	// slots is how many messages a process sends at once.
	slots = 256
	// lookAt is how many due messages one claim looks at: those that are not
	// sent after all cost no slot and no time of the channel's.
	lookAt = 100
	// prepareTimeout bounds the asking for payment links, sendTimeout the sending.
	prepareTimeout = 20 * time.Second
	sendTimeout    = CallTimeout + 5*time.Second
	// lease is how long a claim lasts: longer than all work under it, so that no
	// other process takes a message that is still being sent.
	lease = prepareTimeout + sendTimeout + 30*time.Second
	// poll is how often the engine looks without having been woken.
	poll = time.Second
)

// CallTimeout is how long a carrier has to answer.
const CallTimeout = 15 * time.Second

// job is a claimed message.
type job struct {
	id        int64
	companyID int64
	actor     account.Actor
	claim     string
	dueAt     time.Time
	reach     Reach // of the channel that is to send it
}

// Run sends messages until ctx ends, then waits for those under way. It goes on
// through any failure of the database, looking again a little later.
func (s *Service) Run(ctx context.Context, log *slog.Logger) {
	engine := newEngine(s, log)
	defer engine.sending.Wait()
	loop := worker.Loop{Name: "send messages", Wake: s.wake, Poll: poll, Log: log}
	loop.Run(ctx, func(ctx context.Context) (time.Duration, error) {
		claimed, next, err := engine.round(ctx)
		if claimed > 0 {
			return 0, err
		}
		return max(next, time.Millisecond), err
	})
}

// Look finds whether there is a message to send or to recover, and Wake has Run
// see to it.
func (s *Service) Look() sqldb.Statement {
	return sqldb.DueLook(s.db, `SELECT run_at + 0 AS at FROM reminder_messages WHERE status = 'scheduled' /* every company_id */`,
		`SELECT run_at AS at FROM reminder_messages WHERE status = 'sending' /* every company_id */`)
}

// Wake has Run look at once.
func (s *Service) Wake() { s.wake.Hint() }

type engine struct {
	service *Service
	log     *slog.Logger
	free    chan struct{}
	sending sync.WaitGroup
}

func newEngine(service *Service, log *slog.Logger) *engine {
	e := &engine{service: service, log: log, free: make(chan struct{}, slots)}
	for range slots {
		e.free <- struct{}{}
	}
	return e
}

// round takes up what is due in every channel that may send, as far as there
// are free slots. next is how long it is to the next message of a channel that
// has to wait.
func (e *engine) round(ctx context.Context) (claimed int, next time.Duration, err error) {
	next = poll
	if err := e.service.recover(ctx); err != nil {
		return 0, next, err
	}
	ready, err := lanes(ctx, e.service.db, e.service.db.Now())
	var failures []error
	for _, lane := range ready {
		if wait := lane.nextAt.Sub(e.service.db.Now()); wait > 0 {
			next = min(next, wait)
			continue
		}
		taken := e.take(ctx)
		if taken == 0 {
			break
		}
		jobs, looked, err := e.service.claimLane(ctx, lane, taken)
		failures = append(failures, err)
		for range taken - len(jobs) {
			e.free <- struct{}{}
		}
		claimed += looked
		e.start(ctx, jobs)
	}
	return claimed, next, errors.Join(append(failures, err)...)
}

func (e *engine) start(ctx context.Context, jobs []job) {
	for _, job := range jobs {
		e.sending.Go(func() {
			defer func() {
				e.free <- struct{}{}
				e.service.wake.Hint() // the lane has room again
			}()
			e.attend(context.WithoutCancel(ctx), job)
		})
	}
}

// take waits for one free slot and takes as many as a lane may have.
func (e *engine) take(ctx context.Context) int {
	select {
	case <-e.free:
	case <-ctx.Done():
		return 0
	}
	n := 1
	for ; n < e.service.options.LaneCap; n++ {
		select {
		case <-e.free:
		default:
			return n
		}
	}
	return n
}

// lane is a channel that has something due.
type lane struct {
	companyID int64
	channelID int64
	nextAt    time.Time
}

// pace is how a channel's speed is kept: so many messages at once, and so long
// for each.
func (c Channel) pace(laneCap int) (burst int, each time.Duration) {
	if c.PerMinute == 0 {
		return laneCap, 0
	}
	each = time.Minute / time.Duration(c.PerMinute)
	return max(1, int(100*time.Millisecond/each)), each
}

// claimLane takes up due messages of a channel. Those that are not to be sent
// after all are settled at once; the others are ours for the length of a lease.
// The channel's row keeps its speed over all processes. It returns too how many
// it has dealt with.
func (s *Service) claimLane(ctx context.Context, lane lane, room int) (jobs []job, looked int, err error) {
	actor, err := s.accounts.Program(ctx, lane.companyID, "send messages")
	if err != nil {
		return nil, 0, err
	}
	err = s.db.Write(ctx, func(tx *sqldb.Tx) (err error) {
		jobs, looked = nil, 0
		ch, free, err := takeLane(ctx, tx, lane)
		if err != nil || !free || ch.nextAt.After(tx.Now()) {
			return err
		}
		under, err := sqldb.Value[int](ctx, tx, `
			SELECT count(*) FROM reminder_messages
			WHERE company_id = ? AND channel_id = ? AND claim <> '' AND status IN ('scheduled', 'sending') AND run_at > ?`,
			lane.companyID, lane.channelID, tx.Now().UnixMicro())
		if err != nil {
			return err
		}
		burst, each := ch.pace(s.options.LaneCap)
		room := min(room, burst, s.options.LaneCap-under)
		if room <= 0 {
			return nil
		}
		jobs, looked, err = s.claimSome(ctx, actor.In(tx), lane, room)
		if err != nil || each == 0 || len(jobs) == 0 {
			return err
		}
		return setNext(ctx, tx, lane, tx.Now().Add(time.Duration(len(jobs))*each))
	})
	return jobs, looked, err
}

func (s *Service) claimSome(ctx context.Context, tx account.Tx, lane lane, room int) (jobs []job, looked int, err error) {
	ids, err := sqldb.Values[int64](ctx, tx, dueMessagesText, lane.companyID, lane.channelID, tx.Now().UnixMicro(), lookAt)
	if err != nil || len(ids) == 0 {
		return nil, 0, err
	}
	list, err := candidates(ctx, tx, lane.companyID, ids)
	if err != nil {
		return nil, 0, err
	}
	state, err := s.companyStateOf(ctx, tx)
	if err != nil {
		return nil, 0, err
	}
	token := id.NewCode(16)
	for _, candidate := range list {
		if len(jobs) == room {
			break
		}
		looked++
		decision := s.ruleSafely(ctx, tx.Tx, state, candidate)
		if decision.status == Sending && decision.channel.ID == lane.channelID {
			jobs = append(jobs, job{
				id:        candidate.message.ID,
				companyID: lane.companyID,
				actor:     tx.Actor,
				claim:     token,
				dueAt:     candidate.message.RunAt,
				reach:     s.reachOf(decision.channel),
			})
			err = tx.Do(ctx, `UPDATE reminder_messages SET claim = ?, run_at = ? WHERE company_id = ? AND id = ?`,
				token, tx.Now().Add(lease).UnixMicro(), lane.companyID, candidate.message.ID)
		} else {
			err = s.settleUnsent(ctx, tx.Tx, lane.companyID, candidate, decision)
		}
		if err != nil {
			return nil, 0, err
		}
	}
	return jobs, looked, nil
}

// settleUnsent writes down what was decided about a message that this channel
// does not send.
func (s *Service) settleUnsent(
	ctx context.Context, tx *sqldb.Tx, companyID int64, candidate candidate, decision sendDecision,
) error {
	if candidate.customer.ID == 0 {
		return tx.Do(ctx, `DELETE FROM reminder_messages WHERE company_id = ? AND id = ?`, companyID, candidate.message.ID)
	}
	n := transition{
		status:    decision.status,
		reason:    decision.reason,
		channelID: candidate.message.ChannelID,
		step:      candidate.step,
		runAt:     tx.Now(),
	}
	switch decision.status {
	case Sending: // by another channel, when it is its turn
		n.status, n.channelID, n.step = Scheduled, decision.channel.ID, 0
	case Scheduled:
		n.runAt = decision.at
	default:
		kind := s.kindOf(ctx, tx, companyID, candidate.message.ChannelID)
		tx.OnCommit(func() { s.metrics.count(kind, string(decision.status)) })
		done := Settled{companyID, candidate.message.ID, decision.status}
		if err := s.options.Settled(ctx, tx, done); err != nil {
			return err
		}
	}
	return settle(ctx, tx, companyID, candidate.message.ID, n)
}

// kindOf names the kind of a channel, for the metrics.
func (s *Service) kindOf(ctx context.Context, querier sqldb.Querier, companyID, channelID int64) string {
	channel, err := channelByID(ctx, querier, companyID, channelID)
	if err != nil {
		return "none"
	}
	return channel.Kind
}

// recover deals with messages that were being sent when their process ended or
// hung: whether they arrived is unknown. A channel that recognises repeated
// ones gets them again; on any other a person decides.
func (s *Service) recover(ctx context.Context) error {
	lost, err := sqldb.All(ctx, s.db, rows.Into(func(message *lostMessage) []any {
		return []any{&message.companyID, &message.id, &message.kind}
	}), lostText, s.db.Now().UnixMicro())
	if err != nil || len(lost) == 0 {
		return err
	}
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		for _, message := range lost {
			kind, _ := s.kind(message.kind)
			again := kind.Idempotent
			done, err := settleLost(ctx, tx, message, again)
			if err != nil {
				return err
			}
			if !done || again {
				continue
			}
			tx.OnCommit(func() { s.metrics.count(message.kind, string(Unknown)) })
			if err := s.drawEarlier(ctx, tx, message); err != nil {
				return err
			}
		}
		return nil
	})
}

// NextDue is when the next message is to be planned or sent; zero: never, as
// things are.
func (s *Service) NextDue(ctx context.Context) (time.Time, error) {
	at, err := sqldb.Value[civil.Instant](ctx, s.db, nextDueText)
	return time.Time(at), err
}

// A channel that has just sent waits by its pace, whatever is due.
const nextDueText = `SELECT COALESCE(MIN(t.at), 0) FROM (
		SELECT MIN(plan_at) AS at FROM reminder_rules WHERE active AND occasion = 'due'
		UNION ALL
		SELECT MIN(CASE WHEN h.run_at < h.next_at THEN h.next_at ELSE h.run_at END) FROM (
			SELECT c.next_at, (SELECT MIN(m.run_at) FROM reminder_messages m
				WHERE m.status = 'scheduled' AND m.channel_id = c.id) AS run_at
			FROM reminder_channels c) AS h WHERE h.run_at IS NOT NULL
		UNION ALL
		SELECT MIN(run_at) FROM reminder_messages WHERE status = 'sending'
	) AS t /* every company_id */`

// WorkDue plans and sends what is due, and returns how much that was when all of
// it is finished.
func (s *Service) WorkDue(ctx context.Context) (int, error) {
	planned, err := s.Plan(ctx)
	if err != nil {
		return planned, err
	}
	engine := newEngine(s, s.options.Env.Log)
	defer engine.sending.Wait()
	done := planned
	for {
		claimed, _, err := engine.round(ctx)
		engine.sending.Wait()
		if done += claimed; err != nil || claimed == 0 {
			return done, err
		}
	}
}
