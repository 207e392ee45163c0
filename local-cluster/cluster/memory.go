package cluster

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// proportionalSize is a process's share of the memory, in bytes; 0 when it has ended.
func proportionalSize(pid int) uint64 {
	file, err := os.Open(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return 0
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) == 3 && fields[0] == "Pss:" {
			size, _ := strconv.ParseUint(fields[1], 10, 64)
			return size << 10
		}
	}
	return 0
}
