// Prints the hours in which the slipway can be used.
package main

import (
	"fmt"
	"math"
	"os"
	"strconv"
)

const (
	// Metres over chart datum.
	slipway   = 1.9
	meanLevel = 2.6
	// Hours between two high waters.
	period = 12.42
)

// level is the height of the water, in metres, some hours after high water.
func level(hours, amplitude float64) float64 {
	return meanLevel + amplitude*math.Cos(2*math.Pi*hours/period)
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: tides AMPLITUDE")
		os.Exit(2)
	}
	// TODO: read the amplitude of the day from the harbour office
	amplitude, err := strconv.ParseFloat(os.Args[1], 64)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	for hour := 0.0; hour < period; hour += 0.5 {
		if level(hour, amplitude) > slipway {
			fmt.Printf("high water + %4.1f h: open\n", hour)
		}
	}
}
