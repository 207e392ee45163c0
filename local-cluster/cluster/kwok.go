package cluster

import "context"

func (c *Cluster) startKwok(ctx context.Context, p programs, say *clock) error { return nil }
