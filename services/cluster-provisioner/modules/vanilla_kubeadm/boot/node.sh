#!/usr/bin/env bash
# Makes this machine a node. Run at first boot and again after each failure, so that every step may be done any number of
# times. `kubeopera-node publish` only renews what machines join with.
set -Eeuo pipefail

readonly ADMIN=/etc/kubernetes/admin.conf
readonly CONFIG=/etc/kubeopera/kubeadm.yaml
readonly UPLOAD=/etc/kubeopera/upload-certs.yaml
readonly PREDECESSOR_SECONDS="${PREDECESSOR_SECONDS:-1800}"

get() { aws ssm get-parameter --name "$PARAMETERS/$1" --with-decryption --query Parameter.Value --output text; }
# What a program is called with every process of the machine can read, so the value goes another way.
put() { # name, type, value
    printf '%s' "$3" | aws ssm put-parameter --name "$PARAMETERS/$1" --type "$2" --tier Intelligent-Tiering --overwrite \
        --value file:///dev/stdin >/dev/null
}
# One line for people, and never a token.
tell() {
    echo "$1"
    [[ $ROLE != control-plane ]] || put "status/control-plane-$INDEX" String "$1"
}
failed() {
    tell "failed: $stage (line $1); trying again" || true
}
stage="starting"
trap 'failed $LINENO' ERR
metadata() {
    local token
    token=$(curl -sf -X PUT -H 'X-aws-ec2-metadata-token-ttl-seconds: 60' http://169.254.169.254/latest/api/token)
    curl -sf -H "X-aws-ec2-metadata-token: $token" "http://169.254.169.254/latest/meta-data/$1"
}

packages() {
    stage="installing packages"
    tell "$stage"
    local minor="${KUBERNETES_VERSION%.*}"
    printf 'overlay\nbr_netfilter\n' >/etc/modules-load.d/kubeopera.conf
    modprobe overlay
    modprobe br_netfilter
    printf 'net.bridge.bridge-nf-call-iptables = 1\nnet.ipv4.ip_forward = 1\n' >/etc/sysctl.d/90-kubeopera.conf
    sysctl --quiet --system
    swapoff -a
    cat >/etc/yum.repos.d/kubernetes.repo <<REPO
[kubernetes]
name=Kubernetes
baseurl=https://pkgs.k8s.io/core:/stable:/v$minor/rpm/
enabled=1
gpgcheck=1
gpgkey=https://pkgs.k8s.io/core:/stable:/v$minor/rpm/repodata/repomd.xml.key
exclude=kubelet kubeadm kubectl cri-tools kubernetes-cni
REPO
    dnf --quiet --assumeyes install containerd iproute-tc
    dnf --quiet --assumeyes --disableexcludes=kubernetes install \
        "kubelet-$KUBERNETES_VERSION" "kubeadm-$KUBERNETES_VERSION" "kubectl-$KUBERNETES_VERSION" cri-tools
    mkdir -p /etc/containerd
    containerd config default | sed 's/SystemdCgroup = false/SystemdCgroup = true/' >/etc/containerd/config.toml
    systemctl enable --now containerd
    systemctl restart containerd
    systemctl enable kubelet
}

# kubeadm's own words for this machine.
node_registration() {
    cat <<YAML
nodeRegistration:
  name: $(metadata local-hostname)
  kubeletExtraArgs:
    - name: cloud-provider
      value: external
    - name: provider-id
      value: aws:///$(metadata placement/availability-zone)/$(metadata instance-id)
YAML
}

# A node's own API server is nearest, and the load balancer does not let it reach itself before it is healthy.
reach_api_here() {
    [[ $API_ENDPOINT =~ ^[0-9.]+$ ]] || grep -q " $API_ENDPOINT\$" /etc/hosts || echo "$(metadata local-ipv4) $API_ENDPOINT" >>/etc/hosts
}

init() {
    stage="creating the control plane"
    tell "$stage"
    reach_api_here
    local key feature_gates=""
    key=$(openssl rand -hex 32)
    # Kubelets of control-plane nodes talk to their own API server. From 1.36 on they always do.
    (( $(cut -d. -f2 <<<"$KUBERNETES_VERSION") >= 36 )) || feature_gates=$'featureGates:\n  ControlPlaneKubeletLocalMode: true'
    (umask 077 && cat >"$CONFIG" <<YAML
apiVersion: kubeadm.k8s.io/v1beta4
kind: InitConfiguration
certificateKey: $key
localAPIEndpoint:
  advertiseAddress: $(metadata local-ipv4)
$(node_registration)
---
apiVersion: kubeadm.k8s.io/v1beta4
kind: ClusterConfiguration
clusterName: $CLUSTER_NAME
kubernetesVersion: $KUBERNETES_VERSION
controlPlaneEndpoint: $API_ENDPOINT:6443
encryptionAlgorithm: ECDSA-P256
$feature_gates
networking:
  podSubnet: $POD_CIDR
  serviceSubnet: $SERVICE_CIDR
apiServer:
  certSANs: [$API_ENDPOINT, $API_PUBLIC]
YAML
    )
    # What an attempt that failed half-way has left would be in the way.
    [[ ! -e /etc/kubernetes/manifests/kube-apiserver.yaml ]] || kubeadm reset --force
    kubeadm init --config "$CONFIG" --upload-certs
}

# What other machines join with: a token of two hours, renewed every half hour.
publish() {
    stage="publishing what machines join with"
    local token hash key
    token=$(kubeadm token create --ttl 2h --kubeconfig "$ADMIN")
    hash=$(openssl x509 -pubkey -noout -in /etc/kubernetes/pki/ca.crt | openssl pkey -pubin -outform der | sha256sum | cut -d' ' -f1)
    put join/worker SecureString "$token sha256:$hash"
    if [[ $INDEX == 0 && $CONTROL_PLANE_COUNT != 1 ]]; then
        key=$(openssl rand -hex 32)
        (umask 077 && cat >"$UPLOAD" <<YAML
apiVersion: kubeadm.k8s.io/v1beta4
kind: InitConfiguration
certificateKey: $key
---
apiVersion: kubeadm.k8s.io/v1beta4
kind: ClusterConfiguration
kubernetesVersion: $KUBERNETES_VERSION
YAML
        )
        kubeadm init phase upload-certs --upload-certs --config "$UPLOAD" --kubeconfig "$ADMIN" >/dev/null
        rm -f "$UPLOAD"
        put join/control-plane SecureString "$token sha256:$hash $key"
    fi
}

kubeconfig() {
    stage="publishing the kubeconfig"
    local config
    config=$(kubectl --kubeconfig "$ADMIN" config view --raw --minify | sed "s|server: https://.*|server: https://$API_PUBLIC:6443|")
    put kubeconfig SecureString "$config"
}

addons() {
    stage="installing the network and the cloud controller"
    tell "$stage"
    sed -e "s|@POD_CIDR@|$POD_CIDR|" -e "s|@CLUSTER_NAME@|$CLUSTER_NAME|" /etc/kubeopera/addons.yaml |
        kubectl --kubeconfig "$ADMIN" apply --server-side --force-conflicts -f -
}

# etcd takes one new member at a time, so each control-plane node waits for the one before it.
wait_for_predecessor() {
    local before="status/control-plane-$((INDEX - 1))" deadline=$((SECONDS + PREDECESSOR_SECONDS)) said
    stage="waiting for control-plane-$((INDEX - 1))"
    tell "$stage"
    until said=$(get "$before") && [[ $said == ready ]]; do
        ((SECONDS < deadline)) || { tell "failed: control-plane-$((INDEX - 1)) is not ready: ${said:-unknown}"; exit 1; }
        sleep "${PAUSE:-5}"
    done
}

join() {
    stage="joining"
    tell "$stage"
    local words token hash key="" control_plane=""
    until words=$(get "join/$ROLE") && [[ $words != "not yet" ]]; do sleep "${PAUSE:-5}"; done
    read -r token hash key <<<"$words"
    if [[ $ROLE == control-plane ]]; then
        control_plane=$(printf 'controlPlane:\n  certificateKey: %s\n  localAPIEndpoint:\n    advertiseAddress: %s' "$key" "$(metadata local-ipv4)")
    fi
    (umask 077 && cat >"$CONFIG" <<YAML
apiVersion: kubeadm.k8s.io/v1beta4
kind: JoinConfiguration
$(node_registration)
discovery:
  bootstrapToken:
    apiServerEndpoint: $API_ENDPOINT:6443
    token: $token
    caCertHashes: [$hash]
$control_plane
YAML
    )
    [[ ! -e /etc/kubernetes/kubelet.conf ]] || kubeadm reset --force
    kubeadm join --config "$CONFIG"
    [[ $ROLE != control-plane ]] || reach_api_here
}

if [[ ${1:-} == publish ]]; then
    publish
    exit
fi
packages
if [[ $ROLE == control-plane && $INDEX == 0 ]]; then
    [[ -e /etc/kubeopera/initialised ]] || init
    touch /etc/kubeopera/initialised
    addons
    publish
    kubeconfig
else
    [[ $ROLE == worker ]] || wait_for_predecessor
    join
fi
rm -f "$CONFIG"
touch /etc/kubeopera/joined
[[ $ROLE != control-plane ]] || systemctl enable --now kubeopera-tokens.timer
stage="ready"
tell ready
