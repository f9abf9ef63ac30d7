//go:build integration

package integration

import (
	"context"
	"net"
	"sync/atomic"
	"testing"
)

// nameserver answers every question for an address with 127.0.0.1, or, while it
// is lost, says that the name does not exist.
type nameserver struct {
	address string
	lost    atomic.Bool
	asked   atomic.Int64 // questions while lost
}

func newNameserver(t *testing.T) *nameserver {
	t.Helper()
	conn, err := new(net.ListenConfig).ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &nameserver{address: conn.LocalAddr().String()}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for question := make([]byte, 1500); ; {
			n, from, err := conn.ReadFrom(question)
			if err != nil {
				return
			}
			if answer := s.answer(question[:n]); answer != nil {
				_, _ = conn.WriteTo(answer, from)
			}
		}
	}()
	t.Cleanup(func() { _ = conn.Close(); <-done })
	return s
}

// dial is for a transport: it resolves names at this server only.
func (s *nameserver) dial(ctx context.Context, network, address string) (net.Conn, error) {
	resolver := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", s.address)
	}}
	return (&net.Dialer{Resolver: resolver}).DialContext(ctx, network, address)
}

// answer makes a DNS message from one with a single question, and leaves out what
// the question had besides.
func (s *nameserver) answer(question []byte) []byte {
	const header, typeA = 12, 1
	end := header
	for end < len(question) && question[end] != 0 {
		end += int(question[end]) + 1
	}
	end += 5 // the name's end, type and class
	if end > len(question) {
		return nil
	}
	answer := append([]byte(nil), question[:end]...)
	answer[2], answer[3] = 0x81, 0x80 // an answer, with recursion
	clear(answer[6:header])           // no records yet
	switch {
	case s.lost.Load():
		s.asked.Add(1)
		answer[3] |= 3 // no such name
	case question[end-3] == typeA:
		answer[7] = 1
		answer = append(answer, 0xc0, header, 0, typeA, 0, 1, 0, 0, 0, 0, 0, 4, 127, 0, 0, 1)
	}
	return answer
}
