//go:build bench

package bench

import (
	"net/http"

	"github.com/solotick/solotick/lockkit/locktest"
)

// forgetful keeps no log of requests, which would grow, and the endpoint's
// garbage collection with it, from session to session.
type forgetful struct{ *locktest.DB }

func (f forgetful) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.DB.ServeHTTP(w, r)
	f.ResetRequests()
}
