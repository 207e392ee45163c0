// A stand-in for the Terraform provider of Google Cloud: it has the real schemas of what KubeOpera's modules use, and
// creates nothing. Terraform itself is the real one, so that a module that Google's provider would refuse by its schema is
// refused, and plan, apply and destroy are what they are.
//
// What it is to do, and what it did, is in the folder that STANDIN_FOLDER names:
//
//	answers.json   values that Google would make up, by type and attribute
//	faults.json    what is to go wrong, each so many times
//	journal.jsonl  what was done, one object a line
//
// STANDIN_ANSWERS names a file in the place of answers.json, for where the folder begins empty.
package main

import (
	_ "embed"
	"fmt"
	"os"

	"github.com/hashicorp/terraform-plugin-go/tfprotov5"
	"github.com/hashicorp/terraform-plugin-go/tfprotov5/tf5server"
)

//go:embed google.json
var google []byte

func main() {
	if err := serve(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve() error {
	schemas, err := readSchemas(google)
	if err != nil {
		return err
	}
	cloud := &cloud{folder: os.Getenv("STANDIN_FOLDER"), answers: os.Getenv("STANDIN_ANSWERS")}
	return tf5server.Serve("hashicorp/google", func() tfprotov5.ProviderServer {
		return &provider{schemas: schemas, cloud: cloud}
	})
}
