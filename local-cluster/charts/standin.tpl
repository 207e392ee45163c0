{{- /*
The parts every stand-in chart is made of. The mirror packs this file into each of them as templates/_standin.tpl.

A stand-in has upstream's object names, values keys and readiness; the program inside is components/standin, which
answers its probes and nothing else.
*/ -}}

{{- /* standin.name: the name a release gives its objects, by the rule `helm create` writes into a chart. */ -}}
{{- define "standin.name" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride -}}
{{- else if contains .Chart.Name .Release.Name -}}
{{- .Release.Name -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name -}}
{{- end -}}
{{- end -}}

{{- /* standin.image: root, image (registry, repository, tag). An empty tag means the version of the application. */ -}}
{{- define "standin.image" -}}
{{- with .image.registry }}{{ . }}/{{ end }}{{ .image.repository }}:{{ .image.tag | default .root.Chart.AppVersion }}
{{- end -}}

{{- define "standin.selector" -}}
app.kubernetes.io/name: {{ .component | default .root.Chart.Name }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
{{- end -}}

{{- define "standin.labels" -}}
{{ include "standin.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- end -}}

{{- /*
standin.workload: root, kind (Deployment, DaemonSet or StatefulSet), name, image; optionally component, replicas, port,
resources, pullSecrets, nodeSelector, tolerations, volumeClaimTemplate (StatefulSet only).
*/ -}}
{{- define "standin.workload" -}}
{{- $port := .port | default 8080 -}}
apiVersion: apps/v1
kind: {{ .kind }}
metadata:
  name: {{ .name }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- include "standin.labels" . | nindent 4 }}
spec:
  {{- if ne .kind "DaemonSet" }}
  replicas: {{ .replicas | default 1 }}
  {{- end }}
  {{- if eq .kind "StatefulSet" }}
  serviceName: {{ .name }}
  {{- with .volumeClaimTemplate }}
  volumeClaimTemplates:
    - metadata:
        name: data
      {{- omit . "metadata" | toYaml | nindent 6 }}
  {{- end }}
  {{- end }}
  selector:
    matchLabels:
      {{- include "standin.selector" . | nindent 6 }}
  template:
    metadata:
      labels:
        {{- include "standin.labels" . | nindent 8 }}
    spec:
      automountServiceAccountToken: false
      terminationGracePeriodSeconds: 5
      {{- with .pullSecrets }}
      imagePullSecrets:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .nodeSelector }}
      nodeSelector:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .tolerations }}
      tolerations:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      securityContext:
        runAsNonRoot: true
        runAsUser: 65534
        seccompProfile:
          type: RuntimeDefault
      containers:
        - name: {{ .component | default .root.Chart.Name }}
          image: {{ include "standin.image" . }}
          imagePullPolicy: IfNotPresent
          args: ["--listen=:{{ $port }}", "--name={{ .name }}"]
          ports:
            - name: http
              containerPort: {{ $port }}
          livenessProbe:
            httpGet:
              path: /healthz
              port: http
          readinessProbe:
            httpGet:
              path: /readyz
              port: http
            periodSeconds: 2
          securityContext:
            allowPrivilegeEscalation: false
            readOnlyRootFilesystem: true
            capabilities:
              drop: ["ALL"]
          {{- with .resources }}
          resources:
            {{- toYaml . | nindent 12 }}
          {{- end }}
          {{- if and (eq .kind "StatefulSet") .volumeClaimTemplate }}
          volumeMounts:
            - name: data
              mountPath: /data
          {{- end }}
{{- end -}}

{{- /* standin.service: root, name, ports (name to number); optionally component, type, annotations. */ -}}
{{- define "standin.service" -}}
apiVersion: v1
kind: Service
metadata:
  name: {{ .name }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- include "standin.labels" . | nindent 4 }}
  {{- with .annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  type: {{ .type | default "ClusterIP" }}
  selector:
    {{- include "standin.selector" . | nindent 4 }}
  ports:
    {{- range $name, $number := .ports }}
    - name: {{ $name }}
      port: {{ $number }}
      targetPort: http
    {{- end }}
{{- end -}}
