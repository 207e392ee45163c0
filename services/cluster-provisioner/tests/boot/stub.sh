#!/usr/bin/env bash
# Every program that a machine boots with and that this one must not run, by the name it is called by. What machines share
# is in $STORE.
set -eu
echo "$(basename "$0") $*" >>"$STORE/called"
log() { echo "$HOST $*" >>"$STORE/log"; }
# Two at once would be one too many for etcd.
alone() {
    mkdir "$STORE/busy" 2>/dev/null || log OVERLAP
    sleep 0.3
    rmdir "$STORE/busy" 2>/dev/null || true
}
value_of() { # option, arguments
    local wanted=$1
    shift
    while (($#)); do
        [[ $1 != "$wanted" ]] || { echo "$2"; return; }
        shift
    done
}
case "$(basename "$0") ${1:-}" in
"aws ssm")
    file="$STORE/parameters/$(value_of --name "$@" | tr / _)"
    if [[ $2 == put-parameter ]]; then
        value=$(value_of --value "$@")
        [[ $value == file://* ]] && cat "${value#file://}" >"$file.new" || echo "$value" >"$file.new"
        mv "$file.new" "$file"
    else
        cat "$file"
    fi
    ;;
curl*)
    case "$*" in
    *local-ipv4) echo "10.0.0.1$INDEX" ;;
    *local-hostname) echo "$HOST" ;;
    *instance-id) echo "i-$HOST" ;;
    *availability-zone) echo eu-north-1a ;;
    *) echo token ;;
    esac
    ;;
"containerd config") echo "SystemdCgroup = false" ;;
"kubeadm init")
    if [[ ${2:-} == phase ]]; then
        log upload-certs
        exit
    fi
    log init
    alone
    cp "$3" "$STORE/init.yaml"
    mkdir -p /etc/kubernetes/pki /etc/kubernetes/manifests
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout /dev/null -subj /CN=ca \
        -out /etc/kubernetes/pki/ca.crt 2>/dev/null
    touch /etc/kubernetes/admin.conf /etc/kubernetes/manifests/kube-apiserver.yaml
    ;;
"kubeadm join")
    if [[ -e "$STORE/fails-$HOST" ]]; then
        rm "$STORE/fails-$HOST"
        touch /etc/kubernetes/kubelet.conf
        log failed-join
        exit 1
    fi
    log "join $(sed -n 's/^ *token: //p' "$3")"
    [[ $ROLE == worker ]] || alone
    cp "$3" "$STORE/join-$HOST.yaml"
    mkdir -p /etc/kubernetes/pki
    cp "$STORE/ca.crt" /etc/kubernetes/pki/ca.crt 2>/dev/null || true
    touch /etc/kubernetes/admin.conf /etc/kubernetes/kubelet.conf
    ;;
"kubeadm token") printf 'abcdef.%s\n' "$(date +%s%N | tail -c 17)" ;;
"kubeadm reset") log reset ;;
"kubectl --kubeconfig")
    if [[ "$*" == *"config view"* ]]; then
        printf 'clusters:\n- cluster:\n    server: https://10.0.0.10:6443\n'
    else
        cat >"$STORE/addons.yaml"
    fi
    ;;
*) log "$(basename "$0") $*" ;;
esac
