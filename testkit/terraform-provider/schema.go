package main

import (
	"encoding/json"
	"fmt"

	"github.com/hashicorp/terraform-plugin-go/tfprotov5"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// The shape that `terraform providers schema -json` prints.
type jsonSchemas struct {
	Provider    jsonSchema            `json:"provider"`
	Resources   map[string]jsonSchema `json:"resource_schemas"`
	DataSources map[string]jsonSchema `json:"data_source_schemas"`
}

type jsonSchema struct {
	Version int64     `json:"version"`
	Block   jsonBlock `json:"block"`
}

type jsonBlock struct {
	Attributes map[string]struct {
		Type     json.RawMessage `json:"type"`
		Required bool            `json:"required"`
		Optional bool            `json:"optional"`
		Computed bool            `json:"computed"`
	} `json:"attributes"`
	Blocks map[string]struct {
		Nesting  string    `json:"nesting_mode"`
		MinItems int64     `json:"min_items"`
		MaxItems int64     `json:"max_items"`
		Block    jsonBlock `json:"block"`
	} `json:"block_types"`
}

type schemas struct {
	provider    *tfprotov5.Schema
	resources   map[string]*tfprotov5.Schema
	dataSources map[string]*tfprotov5.Schema
}

func readSchemas(text []byte) (*schemas, error) {
	var read jsonSchemas
	if err := json.Unmarshal(text, &read); err != nil {
		return nil, err
	}
	all := schemas{resources: map[string]*tfprotov5.Schema{}, dataSources: map[string]*tfprotov5.Schema{}}
	var err error
	if all.provider, err = read.Provider.schema(); err != nil {
		return nil, err
	}
	for name, one := range read.Resources {
		if all.resources[name], err = one.schema(); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	for name, one := range read.DataSources {
		if all.dataSources[name], err = one.schema(); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return &all, nil
}

func (read jsonSchema) schema() (*tfprotov5.Schema, error) {
	block, err := read.Block.block()
	return &tfprotov5.Schema{Version: read.Version, Block: block}, err
}

func (read jsonBlock) block() (*tfprotov5.SchemaBlock, error) {
	block := &tfprotov5.SchemaBlock{}
	for name, attribute := range read.Attributes {
		kind, err := tftypes.ParseJSONType(attribute.Type) //nolint:staticcheck // the one reader of this notation
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		block.Attributes = append(block.Attributes, &tfprotov5.SchemaAttribute{
			Name: name, Type: kind,
			Required: attribute.Required, Optional: attribute.Optional, Computed: attribute.Computed,
		})
	}
	nesting := map[string]tfprotov5.SchemaNestedBlockNestingMode{
		"single": tfprotov5.SchemaNestedBlockNestingModeSingle,
		"list":   tfprotov5.SchemaNestedBlockNestingModeList,
		"set":    tfprotov5.SchemaNestedBlockNestingModeSet,
		"map":    tfprotov5.SchemaNestedBlockNestingModeMap,
	}
	for name, nested := range read.Blocks {
		inner, err := nested.Block.block()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		block.BlockTypes = append(block.BlockTypes, &tfprotov5.SchemaNestedBlock{
			TypeName: name, Block: inner, Nesting: nesting[nested.Nesting],
			MinItems: nested.MinItems, MaxItems: nested.MaxItems,
		})
	}
	return block, nil
}

// filled is a value of a block with what `fill` makes of each attribute.
func filled(
	block *tfprotov5.SchemaBlock,
	value tftypes.Value,
	fill func(*tfprotov5.SchemaAttribute, tftypes.Value) (tftypes.Value, error),
) (tftypes.Value, error) {
	if value.IsNull() || !value.IsKnown() {
		return value, nil
	}
	var fields map[string]tftypes.Value
	if err := value.As(&fields); err != nil {
		return value, err
	}
	for _, attribute := range block.Attributes {
		made, err := fill(attribute, fields[attribute.Name])
		if err != nil {
			return value, err
		}
		fields[attribute.Name] = made
	}
	for _, nested := range block.BlockTypes {
		within := fields[nested.TypeName]
		if within.IsNull() || !within.IsKnown() {
			continue
		}
		if nested.Nesting == tfprotov5.SchemaNestedBlockNestingModeSingle {
			made, err := filled(nested.Block, within, fill)
			if err != nil {
				return value, err
			}
			fields[nested.TypeName] = made
			continue
		}
		var items []tftypes.Value
		if err := within.As(&items); err != nil {
			return value, err
		}
		for at, item := range items {
			made, err := filled(nested.Block, item, fill)
			if err != nil {
				return value, err
			}
			items[at] = made
		}
		fields[nested.TypeName] = tftypes.NewValue(within.Type(), items)
	}
	return tftypes.NewValue(value.Type(), fields), nil
}
