//go:build linux

package main

import (
	"syscall"
	"time"
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
	if err := l.recover(); err != nil {
		return err
	}
	for _, process := range l.processes() {
		if !process.alive() {
			l.ended = append(l.ended, process.addr)
		}
	}
	return l.finish()
}

func killDatabase(lab *lab) error {
	if _, err := lab.three(lab.url); err != nil {
		return err
	}
	lab.hurt()
	lab.primary.Crash()
	if err := lab.primary.Restart(lab.ctx); err != nil {
		return err
	}
	return lab.goOn()
}

// standby has commits wait for one, so that a failover loses nothing.
func (l *lab) standby() (server, error) {
	standby, err := l.primary.Standby(l.ctx)
	if err != nil {
		return nil, err
	}
	l.later(standby.Stop)
	return standby, l.primary.Synchronous(l.ctx)
}

func vanish(lab *lab) error {
	standby, err := lab.standby()
	if err != nil {
		return err
	}
	proxy, err := lab.house.proxy(lab.primary.Address())
	if err != nil {
		return err
	}
	lab.later(proxy.Close)
	lab.url = lab.primary.URLAt(proxy.Address())
	if _, err := lab.three(lab.url); err != nil {
		return err
	}
	lab.hurt()
	proxy.Silence()
	pause(lab.ctx, lab.span(3*time.Second))
	if err := standby.Promote(lab.ctx); err != nil {
		return err
	}
	proxy.Speak(standby.Address())
	return lab.goOn()
}

func failover(lab *lab) error {
	standby, err := lab.standby()
	if err != nil {
		return err
	}
	lab.url = lab.primary.URLAt(lab.primary.Address(), standby.Address())
	if _, err := lab.three(lab.url); err != nil {
		return err
	}
	lab.hurt()
	lab.primary.Crash()
	if err := standby.Promote(lab.ctx); err != nil {
		return err
	}
	return lab.goOn()
}

// cutOff has one process lose its database while it is at work. Callers who are
// sent to it are answered by the others.
func cutOff(lab *lab) error {
	proxy, err := lab.house.proxy(lab.primary.Address())
	if err != nil {
		return err
	}
	lab.later(proxy.Close)
	if _, err := lab.three(lab.primary.URLAt(proxy.Address())); err != nil {
		return err
	}
	lab.hurt()
	proxy.Silence()
	pause(lab.ctx, lab.span(20*time.Second))
	proxy.Speak()
	return lab.goOn()
}

func killOne(lab *lab) error {
	last, err := lab.three(lab.url)
	if err != nil {
		return err
	}
	lab.hurt()
	last.kill()
	lab.forget(last)
	return lab.goOn()
}

// forget sends no more callers to a process.
func (l *lab) forget(gone *proc) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, proc := range l.procs {
		if proc == gone {
			l.procs = append(l.procs[:i:i], l.procs[i+1:]...)
			return
		}
	}
}

func freezeOne(lab *lab) error {
	last, err := lab.three(lab.url)
	if err != nil {
		return err
	}
	lab.hurt()
	last.signal(syscall.SIGSTOP)
	pause(lab.ctx, lab.span(15*time.Second))
	last.signal(syscall.SIGCONT)
	return lab.goOn()
}

// skewed runs a process with a wrong clock together with two that have right
// ones.
func skewed(by string) func(*lab) error {
	return func(lab *lab) error {
		for range 2 {
			if _, err := lab.serve(lab.url); err != nil {
				return err
			}
		}
		if _, err := lab.serve(lab.url, "CARTEIRA_CLOCK_SKEW="+by); err != nil {
			return err
		}
		if err := lab.begin(); err != nil {
			return err
		}
		lab.hurt()
		pause(lab.ctx, lab.span(20*time.Second))
		return lab.goOn()
	}
}
