// Package statefile keeps the small files in which svckit remembers something
// from one run to the next: records of runs, the state of restarts.
//
// Invariants:
//   - a reader sees a file whole or not at all, whenever a writer is killed: it
//     is written under a temporary name and renamed;
//   - what stands in a file's place and is none (a FIFO, a device, a symbolic
//     link, a directory) is refused, and never waited for;
//   - what a killed writer leaves behind is found and removed by the next Sweep,
//     and never taken from a writer that still lives;
//   - a file that cannot be understood is kept for whoever wants to know why
//     (SetAside), and does not stand in the way.
//
// Every file has mode 0644 whatever the umask is: it holds no secret, and who
// may look into a unit's directories is said by StateDirectoryMode= and
// RuntimeDirectoryMode= (systemd.exec(5)).
//
// Read and Write are the entry points.
package statefile
