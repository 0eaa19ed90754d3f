"""Kubernetes manifests by the rules of kube-scheduler."""
