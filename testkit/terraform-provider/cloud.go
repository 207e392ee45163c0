package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov5"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// What is behind the stand-in: a folder.
type cloud struct {
	folder string
	// Where the answers are, if not in the folder.
	answers string
	lock    sync.Mutex
	made    atomic.Int64
}

// Something that is to go wrong. Without a summary it only takes its time.
type fault struct {
	Type      string `json:"type"`
	Operation string `json:"operation"`
	// How often; 0 is always.
	Times   int     `json:"times"`
	Seconds float64 `json:"seconds"`
	Summary string  `json:"summary"`
	Detail  string  `json:"detail"`
}

// fault waits as long as is wanted, and returns what is to go wrong then.
func (c *cloud) fault(ctx context.Context, kind, operation string) *fault {
	var all []fault
	if !c.read("faults.json", &all) {
		return nil
	}
	for at, one := range all {
		if (one.Type != kind && one.Type != "*") || one.Operation != operation || !c.isDue(at, one.Times) {
			continue
		}
		select {
		case <-time.After(time.Duration(one.Seconds * float64(time.Second))):
		case <-ctx.Done():
		}
		if one.Summary != "" {
			return &one
		}
	}
	return nil
}

// Counts in a file, as each run of Terraform has a process of its own.
func (c *cloud) isDue(at, times int) bool {
	if times == 0 {
		return true
	}
	c.lock.Lock()
	defer c.lock.Unlock()
	counter := filepath.Join(c.folder, fmt.Sprintf("fault-%d", at))
	text, _ := os.ReadFile(counter)
	count, _ := strconv.Atoi(string(text))
	if count >= times {
		return false
	}
	return os.WriteFile(counter, []byte(strconv.Itoa(count+1)), 0o600) == nil
}

// answer is what the cloud would make up for an attribute.
func (c *cloud) answer(kind string, attribute *tfprotov5.SchemaAttribute) (tftypes.Value, error) {
	var answers map[string]map[string]json.RawMessage
	if c.answers != "" {
		readFile(c.answers, &answers)
	} else {
		c.read("answers.json", &answers)
	}
	if text, there := answers[kind][attribute.Name]; there {
		raw := tfprotov5.RawState{JSON: text}
		return raw.Unmarshal(attribute.Type)
	}
	switch {
	case attribute.Type.Is(tftypes.String):
		return tftypes.NewValue(tftypes.String, fmt.Sprintf("%s-%d-%d", attribute.Name, os.Getpid(), c.made.Add(1))), nil
	case attribute.Type.Is(tftypes.List{}), attribute.Type.Is(tftypes.Set{}):
		return tftypes.NewValue(attribute.Type, []tftypes.Value{}), nil
	case attribute.Type.Is(tftypes.Map{}):
		return tftypes.NewValue(attribute.Type, map[string]tftypes.Value{}), nil
	default:
		return tftypes.NewValue(attribute.Type, nil), nil
	}
}

func (c *cloud) read(file string, into any) bool {
	return c.folder != "" && readFile(filepath.Join(c.folder, file), into)
}

func readFile(path string, into any) bool {
	text, err := os.ReadFile(path)
	return err == nil && json.Unmarshal(text, into) == nil
}

// write tells what was done.
func (c *cloud) write(operation, kind, name string) error {
	if c.folder == "" {
		return nil
	}
	c.lock.Lock()
	defer c.lock.Unlock()
	line, err := json.Marshal(map[string]string{"operation": operation, "type": kind, "name": name})
	if err != nil {
		return err
	}
	journal, err := os.OpenFile(filepath.Join(c.folder, "journal.jsonl"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer journal.Close()
	_, err = journal.Write(append(line, '\n'))
	return err
}
