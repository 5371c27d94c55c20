//go:build linux

package main

import (
	"syscall"
	"time"

	"carteira/tools/pgserver"
)

// three starts three processes, the last with a database of its own address,
// and the callers.
func (l *lab) three(urlOfLast string, more ...string) (last *proc, err error) {
	for range 2 {
		if _, err := l.serve(l.url); err != nil {
			return nil, err
		}
	}
	if last, err = l.serve(urlOfLast, more...); err != nil {
		return nil, err
	}
	return last, l.begin()
}

// goOn waits until everything goes on, and stops the callers.
func (l *lab) goOn() error {
	if err := l.recover(recoverTimeout); err != nil {
		return err
	}
	for _, p := range l.processes() {
		if !p.alive() {
			l.ended = append(l.ended, p.addr)
		}
	}
	return l.finish()
}

func killDatabase(l *lab) error {
	if _, err := l.three(l.url); err != nil {
		return err
	}
	l.hurt()
	l.primary.Crash()
	if err := l.primary.Restart(l.ctx); err != nil {
		return err
	}
	return l.goOn()
}

// standby has commits wait for one, so that a failover loses nothing.
func (l *lab) standby() (*pgserver.Server, error) {
	s, err := l.primary.Standby(l.ctx)
	if err != nil {
		return nil, err
	}
	l.later(s.Stop)
	return s, l.primary.Synchronous(l.ctx)
}

func vanish(l *lab) error {
	standby, err := l.standby()
	if err != nil {
		return err
	}
	proxy, err := pgserver.NewProxy(l.primary.Address())
	if err != nil {
		return err
	}
	l.later(proxy.Close)
	l.url = l.primary.URLAt(proxy.Address())
	if _, err := l.three(l.url); err != nil {
		return err
	}
	l.hurt()
	proxy.Silence()
	pause(l.ctx, 3*time.Second)
	if err := standby.Promote(l.ctx); err != nil {
		return err
	}
	proxy.Speak(standby.Address())
	return l.goOn()
}

func failover(l *lab) error {
	standby, err := l.standby()
	if err != nil {
		return err
	}
	l.url = l.primary.URLAt(l.primary.Address(), standby.Address())
	if _, err := l.three(l.url); err != nil {
		return err
	}
	l.hurt()
	l.primary.Crash()
	if err := standby.Promote(l.ctx); err != nil {
		return err
	}
	return l.goOn()
}

// cutOff has one process lose its database while it is at work. Callers who are
// sent to it are answered by the others.
func cutOff(l *lab) error {
	proxy, err := pgserver.NewProxy(l.primary.Address())
	if err != nil {
		return err
	}
	l.later(proxy.Close)
	if _, err := l.three(l.primary.URLAt(proxy.Address())); err != nil {
		return err
	}
	l.hurt()
	proxy.Silence()
	pause(l.ctx, 20*time.Second)
	proxy.Speak()
	return l.goOn()
}

func killOne(l *lab) error {
	last, err := l.three(l.url)
	if err != nil {
		return err
	}
	l.hurt()
	last.kill()
	l.forget(last)
	return l.goOn()
}

// forget sends no more callers to a process.
func (l *lab) forget(gone *proc) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, p := range l.procs {
		if p == gone {
			l.procs = append(l.procs[:i:i], l.procs[i+1:]...)
			return
		}
	}
}

func freezeOne(l *lab) error {
	last, err := l.three(l.url)
	if err != nil {
		return err
	}
	l.hurt()
	last.signal(syscall.SIGSTOP)
	pause(l.ctx, 15*time.Second)
	last.signal(syscall.SIGCONT)
	return l.goOn()
}

// skewed runs a process whose clock is wrong beside two whose clocks are right.
func skewed(by string) func(*lab) error {
	return func(l *lab) error {
		for range 2 {
			if _, err := l.serve(l.url); err != nil {
				return err
			}
		}
		if _, err := l.serveWith([]string{l.house.hooked, "serve"}, l.url, "CARTEIRA_CLOCK_SKEW="+by); err != nil {
			return err
		}
		if err := l.begin(); err != nil {
			return err
		}
		l.hurt()
		pause(l.ctx, 20*time.Second)
		return l.goOn()
	}
}
