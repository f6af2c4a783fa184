/** What kustomize renders for each environment, held against the schemas of Kubernetes and against rules of ours. */
import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { execa } from 'execa'
import type { Deployment } from 'kubernetes-models/apps/v1/Deployment'
import type { HorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2/HorizontalPodAutoscaler'
import type { Job } from 'kubernetes-models/batch/v1/Job'
import type { Ingress } from 'kubernetes-models/networking.k8s.io/v1/Ingress'
import type { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy'
import type { PodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget'
import type { ConfigMap } from 'kubernetes-models/v1/ConfigMap'
import type { Service } from 'kubernetes-models/v1/Service'
import { beforeAll, describe, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { ensureProgram } from '../../dev/servers/install.ts'

const folder = fileURLToPath(new URL('.', import.meta.url))
const SCHEMAS = fileURLToPath(new URL('../../node_modules/', import.meta.url))
const COMMANDS = ['api', 'worker', 'migrate']
/** The objects below which keys are names of ours, or of resources. */
const NAMED = new Set(['labels', 'matchLabels', 'annotations', 'selector', 'data', 'requests', 'limits'])

interface Kinds {
  ConfigMap: ConfigMap
  Deployment: Deployment
  HorizontalPodAutoscaler: HorizontalPodAutoscaler
  Job: Job
  NetworkPolicy: NetworkPolicy
  PodDisruptionBudget: PodDisruptionBudget
  Service: Service
}
type Rendered = Kinds[keyof Kinds]

async function render(environment: string): Promise<Rendered[]> {
  const { stdout } = await execa('kubectl', ['kustomize', `${folder}${environment}`])
  return parseAllDocuments(stdout).map((document) => document.toJS())
}

/** The names of all fields of Kubernetes, since its schemas accept a misspelt one. */
function knownFields(): ReadonlySet<string> {
  const types = globSync('{kubernetes-models,@kubernetes-models/apimachinery}/**/*.d.ts', { cwd: SCHEMAS })
  const names = types.flatMap((file) =>
    Array.from(readFileSync(SCHEMAS + file, 'utf8').matchAll(/^ +"(\w+)"\??:/gm), ([, name = '']) => name),
  )
  return new Set(names)
}
const fieldsIn = (value: unknown): string[] =>
  Object.entries(value ?? {}).flatMap(([name, inner]) => [
    ...(Array.isArray(value) ? [] : [name]),
    ...(typeof inner === 'object' && !NAMED.has(name) ? fieldsIn(inner) : []),
  ])

beforeAll(async () => {
  const otherwise = 'render deploy/kubernetes by a kubectl of yours'
  await ensureProgram({ name: 'kubectl', binaries: ['kubectl'], apt: 'kubernetes-client', brew: 'kubectl', otherwise })
}, 300_000)

describe.each(['staging', 'production'])('%s', (environment) => {
  let objects: Rendered[] = []
  beforeAll(async () => {
    objects = await render(environment)
  }, 60_000)
  const all = <Kind extends keyof Kinds>(kind: Kind) =>
    objects.filter((one): one is Rendered & Kinds[Kind] => one.kind === kind) as Kinds[Kind][]
  const deployments = () => all('Deployment')
  const templates = () => [...deployments(), ...all('Job')].map(({ spec }) => spec?.template)
  const pods = () => templates().map((template) => template?.spec)
  const containers = () => pods().flatMap((pod) => pod?.containers ?? [])
  const labelsOf = (deployment: Deployment) => deployment.spec?.template.metadata?.labels
  /** The pods that run for long, which have ports and probes. */
  const serving = () => deployments().flatMap(({ spec }) => spec?.template.spec?.containers ?? [])

  test('each object is as its schema says, and no field is misspelt', async () => {
    expect(objects.length).toBeGreaterThan(8)
    const known = knownFields()
    for (const object of objects) {
      const models = await import(`kubernetes-models/${object.apiVersion}`)
      const { [object.kind]: Model } = models
      expect(() => new Model(object).validate(), `${object.kind} ${object.metadata?.name}`).not.toThrow()
      expect(fieldsIn(object).filter((name) => !known.has(name))).toEqual([])
    }
  })

  test('every part is there, and runs a command of the image, of a release', () => {
    expect(containers().map(({ args }) => args?.join(' '))).toEqual(COMMANDS)
    for (const { image } of containers()) expect(image).toMatch(/:\d+\.\d+\.\d+$/)
  })

  test('all stands in a namespace, and is found by a label', () => {
    for (const { metadata, kind } of objects) {
      expect(metadata?.namespace).toMatch(/^flash-sale/)
      if (kind !== 'ConfigMap') expect(metadata?.labels).toMatchObject({ app: 'flash-sale' })
    }
  })

  test('nobody is root, nothing can be written, and no right can be gained', () => {
    for (const pod of pods()) {
      expect(pod?.securityContext).toMatchObject({
        runAsNonRoot: true,
        runAsUser: 65532,
        seccompProfile: { type: 'RuntimeDefault' },
      })
      expect(pod?.automountServiceAccountToken).toBe(false)
    }
    for (const { securityContext, volumeMounts = [] } of containers()) {
      expect(securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      })
      expect(volumeMounts.filter(({ readOnly }) => readOnly !== true)).toEqual([])
    }
  })

  test('each container asks for what it needs, and its memory ends somewhere', () => {
    for (const { resources } of containers())
      expect(resources).toMatchObject({ requests: { cpu: /./, memory: /./ }, limits: { memory: /Mi|Gi/ } })
  })

  test('secrets come by reference, and each reference has its object', () => {
    const secrets = parseAllDocuments(readFileSync(`${folder}secrets.example.yaml`, 'utf8')).map((one) => one.toJS())
    const keysOf = new Map(secrets.map(({ metadata, stringData }) => [metadata.name, Object.keys(stringData)]))
    const maps = all('ConfigMap').map(({ metadata }) => metadata?.name)
    expect(objects.map(({ kind }) => kind)).not.toContain('Secret')
    for (const { env = [], envFrom = [] } of containers()) {
      for (const { value, valueFrom } of env) {
        expect(value).toBeUndefined()
        const { name = '', key } = valueFrom?.secretKeyRef ?? {}
        expect(keysOf.get(name)).toContain(key)
      }
      for (const { configMapRef, secretRef } of envFrom)
        expect(configMapRef ? maps.includes(configMapRef.name) : keysOf.has(secretRef?.name)).toBe(true)
    }
  })

  test('the migration has a secret of its own', () => {
    const [migrate] = all('Job').flatMap(({ spec }) => spec?.template.spec?.containers ?? [])
    expect(migrate?.env?.map(({ valueFrom }) => valueFrom?.secretKeyRef?.name)).toEqual(['flash-sale-migration'])
    expect(migrate?.envFrom).toBeUndefined()
  })

  test('a process is called when it is ready, and ended when it does not live', () => {
    expect(serving()).toHaveLength(2)
    for (const { ports = [], readinessProbe, livenessProbe, startupProbe } of serving()) {
      expect(ports.map(({ name }) => name)).toContain('ops')
      expect(readinessProbe?.httpGet).toEqual({ path: '/readyz', port: 'ops' })
      for (const probe of [livenessProbe, startupProbe])
        expect(probe?.httpGet).toEqual({ path: '/healthz', port: 'ops' })
    }
  })

  test('a rollout takes no process away before another one is ready', () => {
    for (const { spec } of deployments())
      expect(spec?.strategy?.rollingUpdate).toEqual({ maxUnavailable: 0, maxSurge: 1 })
  })

  test('two or more of each run, one of which may go for maintenance at a time', () => {
    const budgets = all('PodDisruptionBudget')
    const scalers = all('HorizontalPodAutoscaler')
    for (const deployment of deployments()) {
      const scaler = scalers.find(({ spec }) => spec?.scaleTargetRef.name === deployment.metadata?.name)
      // A number of both would put the scaler's back at each deployment.
      expect(
        [deployment.spec?.replicas, scaler?.spec?.minReplicas].filter((count) => count !== undefined),
      ).toHaveLength(1)
      expect(deployment.spec?.replicas ?? scaler?.spec?.minReplicas).toBeGreaterThan(1)
      const own = budgets.filter(({ spec }) => spec?.selector?.matchLabels?.part === labelsOf(deployment)?.part)
      expect(own.map(({ spec }) => spec?.maxUnavailable)).toEqual([1])
    }
    for (const { spec } of scalers) expect(spec?.maxReplicas).toBeGreaterThan(spec?.minReplicas ?? 1)
  })

  test('each service leads to a port of its pods, and operators have one apart from buyers', () => {
    for (const { spec } of all('Service')) {
      const target = deployments().find((one) => labelsOf(one)?.part === spec?.selector?.part)
      const ports = target?.spec?.template.spec?.containers[0]?.ports?.map(({ name }) => name)
      for (const { targetPort } of spec?.ports ?? []) expect(ports).toContain(targetPort)
    }
    expect(all('Service').map(({ spec }) => spec?.ports?.map(({ name }) => name))).toEqual([['admin'], ['http']])
  })

  test('every pod is behind the rules of the network, which open its own ports alone', () => {
    const [policy] = all('NetworkPolicy')
    expect(policy?.spec?.policyTypes).toEqual(['Ingress', 'Egress'])
    for (const template of templates())
      expect(template?.metadata?.labels).toMatchObject(policy?.spec?.podSelector?.matchLabels ?? { none: '' })
    const opened = policy?.spec?.ingress?.flatMap(({ from, ports }) => {
      expect(from).toHaveLength(1)
      return ports?.map(({ port }) => port)
    })
    const named = serving().flatMap(({ ports = [] }) => ports.map(({ name }) => name))
    expect(new Set(opened)).toEqual(new Set(named))
  })

  test('the example of an ingress leads each host to a port of a service', async () => {
    const documents = parseAllDocuments(readFileSync(`${folder}ingress.example.yaml`, 'utf8'))
    const ingresses: Ingress[] = documents.map((one) => one.toJS())
    const { Ingress: Model } = await import('kubernetes-models/networking.k8s.io/v1/Ingress')
    for (const one of ingresses) {
      expect(() => new Model(one).validate()).not.toThrow()
      const [host, ...others] = (one.spec?.rules ?? []).map((rule) => rule.host)
      expect(others).toEqual([])
      expect(one.spec?.tls?.flatMap(({ hosts }) => hosts)).toEqual([host])
      const backends = one.spec?.rules?.flatMap(({ http }) => http?.paths.map(({ backend }) => backend.service))
      for (const backend of backends ?? []) {
        const service = all('Service').find(({ metadata }) => metadata?.name === backend?.name)
        expect(service?.spec?.ports?.map(({ name }) => name)).toContain(backend?.port?.name)
      }
    }
    expect(ingresses).toHaveLength(2)
  })
})
