// Definitions of others that our charts can render objects of: cert-manager's Certificate and the Prometheus
// operator's PodMonitor, and PrometheusRule for deploy/prometheus. Their modules carry them; nothing of them is compiled.
module bigfleet.example/test/kube/foreign-crds

go 1.26.0

require (
	github.com/cert-manager/cert-manager v1.18.2
	github.com/prometheus-operator/prometheus-operator v0.85.0
)
