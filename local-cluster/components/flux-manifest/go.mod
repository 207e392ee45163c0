// The parts of Flux's install manifest are taken from these modules. It is a module of its own, because nothing of it is compiled.
module kubeopera.io/local-cluster/flux-manifest

go 1.26.0

require (
	github.com/fluxcd/flux2/v2 v2.9.4
	github.com/fluxcd/helm-controller v1.6.3
	github.com/fluxcd/kustomize-controller v1.9.4
	github.com/fluxcd/notification-controller v1.9.3
	github.com/fluxcd/source-controller v1.9.4
)
