import type { components } from './schema'

type Schemas = components['schemas']

export type Cluster = Schemas['Cluster']
export type ClusterList = Schemas['ClusterList']
export type Phase = Schemas['Phase']
export type PhaseStep = Schemas['PhaseStep']
export type Session = Schemas['Session']
export type ProblemBody = Schemas['Problem']
