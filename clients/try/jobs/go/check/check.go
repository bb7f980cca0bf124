// Package check has what the jobs in Go share: the amounts of the main job, and comparisons that end the job.
package check

import (
	"fmt"
	"log"
	"os"
	"strconv"
)

const (
	Principal = 9_999_999.97
	Paid      = 987_654.32
)

// Cents writes an amount with two decimals.
func Cents(amount float64) string { return fmt.Sprintf("%.2f", amount) }

// Amount ends the job unless two amounts are the same to the cent.
func Amount(what string, got float64, wanted float64) { Equal(what, Cents(got), Cents(wanted)) }

// Equal ends the job unless the two values are the same.
func Equal[T comparable](what string, got T, wanted T) {
	if got != wanted {
		log.Fatalf("%s: %v instead of %v", what, got, wanted)
	}
}

// Must ends the job at an error.
func Must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// RecordID returns the id that the job gives to its borrower, loan and repayment.
func RecordID() int64 {
	id, err := strconv.ParseInt(os.Getenv("RECORD_ID"), 10, 64)
	Must(err)
	return id
}
