package main

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-go/tfprotov5"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// Terraform's side of the stand-in. Methods it does not use are those of the embedded interface, which is none: they would
// end the process, and Terraform says so.
type provider struct {
	tfprotov5.ProviderServer
	schemas *schemas
	cloud   *cloud
}

func (p *provider) GetMetadata(context.Context, *tfprotov5.GetMetadataRequest) (*tfprotov5.GetMetadataResponse, error) {
	answer := &tfprotov5.GetMetadataResponse{ServerCapabilities: &tfprotov5.ServerCapabilities{}}
	for name := range p.schemas.resources {
		answer.Resources = append(answer.Resources, tfprotov5.ResourceMetadata{TypeName: name})
	}
	for name := range p.schemas.dataSources {
		answer.DataSources = append(answer.DataSources, tfprotov5.DataSourceMetadata{TypeName: name})
	}
	return answer, nil
}

func (p *provider) GetProviderSchema(
	context.Context, *tfprotov5.GetProviderSchemaRequest,
) (*tfprotov5.GetProviderSchemaResponse, error) {
	return &tfprotov5.GetProviderSchemaResponse{
		Provider: p.schemas.provider, ResourceSchemas: p.schemas.resources, DataSourceSchemas: p.schemas.dataSources,
	}, nil
}

func (p *provider) GetResourceIdentitySchemas(
	context.Context, *tfprotov5.GetResourceIdentitySchemasRequest,
) (*tfprotov5.GetResourceIdentitySchemasResponse, error) {
	return &tfprotov5.GetResourceIdentitySchemasResponse{}, nil
}

func (p *provider) PrepareProviderConfig(
	_ context.Context, request *tfprotov5.PrepareProviderConfigRequest,
) (*tfprotov5.PrepareProviderConfigResponse, error) {
	return &tfprotov5.PrepareProviderConfigResponse{PreparedConfig: request.Config}, nil
}

func (p *provider) ConfigureProvider(
	context.Context, *tfprotov5.ConfigureProviderRequest,
) (*tfprotov5.ConfigureProviderResponse, error) {
	return &tfprotov5.ConfigureProviderResponse{}, nil
}

func (p *provider) StopProvider(
	context.Context, *tfprotov5.StopProviderRequest,
) (*tfprotov5.StopProviderResponse, error) {
	return &tfprotov5.StopProviderResponse{}, nil
}

func (p *provider) ValidateResourceTypeConfig(
	_ context.Context, request *tfprotov5.ValidateResourceTypeConfigRequest,
) (*tfprotov5.ValidateResourceTypeConfigResponse, error) {
	refused, err := notSettable(p.schemas.resources[request.TypeName], request.Config)
	return &tfprotov5.ValidateResourceTypeConfigResponse{Diagnostics: refused}, err
}

func (p *provider) ValidateDataSourceConfig(
	_ context.Context, request *tfprotov5.ValidateDataSourceConfigRequest,
) (*tfprotov5.ValidateDataSourceConfigResponse, error) {
	refused, err := notSettable(p.schemas.dataSources[request.TypeName], request.Config)
	return &tfprotov5.ValidateDataSourceConfigResponse{Diagnostics: refused}, err
}

// Attributes that only the cloud sets. Terraform leaves it to providers to refuse them.
func notSettable(schema *tfprotov5.Schema, config *tfprotov5.DynamicValue) ([]*tfprotov5.Diagnostic, error) {
	value, err := config.Unmarshal(schema.ValueType())
	if err != nil {
		return nil, err
	}
	var refused []*tfprotov5.Diagnostic
	_, err = filled(schema.Block, value, func(at *tfprotov5.SchemaAttribute, was tftypes.Value) (tftypes.Value, error) {
		if at.Computed && !at.Optional && !was.IsNull() {
			refused = append(refused, failure("Value for unconfigurable attribute", at.Name+" is decided by the provider."))
		}
		return was, nil
	})
	return refused, err
}

func (p *provider) UpgradeResourceState(
	_ context.Context, request *tfprotov5.UpgradeResourceStateRequest,
) (*tfprotov5.UpgradeResourceStateResponse, error) {
	kind := p.schemas.resources[request.TypeName].ValueType()
	value, err := request.RawState.Unmarshal(kind)
	if err != nil {
		return nil, err
	}
	state, err := tfprotov5.NewDynamicValue(kind, value)
	return &tfprotov5.UpgradeResourceStateResponse{UpgradedState: &state}, err
}

func (p *provider) ReadResource(
	_ context.Context, request *tfprotov5.ReadResourceRequest,
) (*tfprotov5.ReadResourceResponse, error) {
	return &tfprotov5.ReadResourceResponse{NewState: request.CurrentState}, nil
}

func (p *provider) PlanResourceChange(
	_ context.Context, request *tfprotov5.PlanResourceChangeRequest,
) (*tfprotov5.PlanResourceChangeResponse, error) {
	schema := p.schemas.resources[request.TypeName]
	prior, err := request.PriorState.Unmarshal(schema.ValueType())
	if err != nil {
		return nil, err
	}
	planned, err := request.ProposedNewState.Unmarshal(schema.ValueType())
	if err != nil {
		return nil, err
	}
	if prior.IsNull() {
		planned, err = filled(schema.Block, planned, func(at *tfprotov5.SchemaAttribute, was tftypes.Value) (tftypes.Value, error) {
			if at.Computed && was.IsNull() {
				return tftypes.NewValue(at.Type, tftypes.UnknownValue), nil
			}
			return was, nil
		})
		if err != nil {
			return nil, err
		}
	}
	state, err := tfprotov5.NewDynamicValue(schema.ValueType(), planned)
	return &tfprotov5.PlanResourceChangeResponse{PlannedState: &state, UnsafeToUseLegacyTypeSystem: true}, err
}

func (p *provider) ApplyResourceChange(
	ctx context.Context, request *tfprotov5.ApplyResourceChangeRequest,
) (*tfprotov5.ApplyResourceChangeResponse, error) {
	schema := p.schemas.resources[request.TypeName]
	prior, err := request.PriorState.Unmarshal(schema.ValueType())
	if err != nil {
		return nil, err
	}
	planned, err := request.PlannedState.Unmarshal(schema.ValueType())
	if err != nil {
		return nil, err
	}
	operation := "update"
	if planned.IsNull() {
		operation = "delete"
	} else if prior.IsNull() {
		operation = "create"
	}
	if fault := p.cloud.fault(ctx, request.TypeName, operation); fault != nil {
		return &tfprotov5.ApplyResourceChangeResponse{
			NewState:                    request.PriorState,
			Diagnostics:                 []*tfprotov5.Diagnostic{failure(fault.Summary, fault.Detail)},
			UnsafeToUseLegacyTypeSystem: true,
		}, nil
	}
	made, err := filled(schema.Block, planned, func(at *tfprotov5.SchemaAttribute, was tftypes.Value) (tftypes.Value, error) {
		if was.IsKnown() {
			return was, nil
		}
		return p.cloud.answer(request.TypeName, at)
	})
	if err != nil {
		return nil, err
	}
	if err := p.cloud.write(operation, request.TypeName, name(planned, prior)); err != nil {
		return nil, err
	}
	state, err := tfprotov5.NewDynamicValue(schema.ValueType(), made)
	return &tfprotov5.ApplyResourceChangeResponse{NewState: &state, UnsafeToUseLegacyTypeSystem: true}, err
}

func (p *provider) ReadDataSource(
	_ context.Context, request *tfprotov5.ReadDataSourceRequest,
) (*tfprotov5.ReadDataSourceResponse, error) {
	schema := p.schemas.dataSources[request.TypeName]
	config, err := request.Config.Unmarshal(schema.ValueType())
	if err != nil {
		return nil, err
	}
	read, err := filled(schema.Block, config, func(at *tfprotov5.SchemaAttribute, was tftypes.Value) (tftypes.Value, error) {
		if at.Computed && was.IsNull() {
			return p.cloud.answer(request.TypeName, at)
		}
		return was, nil
	})
	if err != nil {
		return nil, err
	}
	state, err := tfprotov5.NewDynamicValue(schema.ValueType(), read)
	return &tfprotov5.ReadDataSourceResponse{State: &state}, err
}

// What a resource is called, which is in one attribute or another.
func name(values ...tftypes.Value) string {
	for _, value := range values {
		var fields map[string]tftypes.Value
		if value.IsNull() || value.As(&fields) != nil {
			continue
		}
		for _, attribute := range []string{"name", "account_id", "role"} {
			var text string
			if field, there := fields[attribute]; there && field.IsKnown() && !field.IsNull() && field.As(&text) == nil {
				return text
			}
		}
	}
	return ""
}

func failure(summary, detail string) *tfprotov5.Diagnostic {
	return &tfprotov5.Diagnostic{
		Severity: tfprotov5.DiagnosticSeverityError, Summary: fmt.Sprintf("Error: %s", summary), Detail: detail,
	}
}
