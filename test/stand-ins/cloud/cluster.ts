/**
 * A cluster of Kubernetes as far as kubectl's commands for a release need it. It runs one process of each Deployment and
 * Job, with the settings, secrets, ports and files that the objects give it; kubectl itself renders and makes objects.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { execa } from 'execa'
import { parseAllDocuments } from 'yaml'
import { serveOnLoopback } from '../../../dev/lib/loopback.ts'
import { type Child, freePort, LOOPBACK, startChild, untilReady } from '../../../dev/lib/processes.ts'
import type { Answer } from './programs.ts'

// biome-ignore lint/suspicious/noExplicitAny: objects of Kubernetes, whose schemas deploy/kubernetes holds them to.
type KubernetesObject = any

interface ClusterOptions {
  /** The folder that the image is built from. */
  readonly code: string
  /** A folder for files and logs. */
  readonly folder: string
  /** The images of the registry. */
  readonly images: ReadonlySet<string>
  /** A setting as it is here: with the addresses of this machine. */
  readonly local: (value: string) => string
  /** Settings that each process has besides. */
  readonly env: Readonly<Record<string, string>>
}

interface Pod {
  readonly child: Child
  readonly env: Readonly<Record<string, string>>
  /** The ports of this machine by their names in the object. */
  readonly ports: Readonly<Record<string, number>>
}

/** The arguments after which kubectl only prints the object. */
const PRINT = ['--dry-run=client', '-o', 'yaml']
/** What a process of the image is started by, and where the image has its code. */
const [NODE, APP] = ['/usr/local/bin/node', '/app/']

export class Cluster {
  readonly #options: ClusterOptions
  readonly #objects = new Map<string, KubernetesObject>()
  readonly #pods = new Map<string, Pod>()

  constructor(options: ClusterOptions) {
    this.#options = options
  }

  readonly kubectl = async (args: readonly string[]): Promise<Answer> => {
    const [command, what = '', name = ''] = args
    const option = (flag: string) => args[args.indexOf(flag) + 1 || args.length]
    switch (command) {
      case 'kustomize':
        return { out: await this.#run(args) }
      case 'create':
        this.#store(parseAllDocuments(await this.#run([...args, ...PRINT])).map((one) => one.toJS()))
        return { out: `${what}/${name} created\n` }
      case 'apply':
        return this.#apply(option('-f') ?? '', option('-l'))
      case 'wait':
        return this.#waitForJob(what)
      case 'rollout':
        return this.#waitForRollout(name)
      case 'exec':
        return this.#exec(option('-n') === undefined ? what : (args[3] ?? ''), args.slice(args.indexOf('--') + 1))
      default:
        return { status: 2, err: `this cluster knows no "kubectl ${args.join(' ')}"\n` }
    }
  }

  /** A port of this machine that leads to a host of the ingress, as an ingress controller does. */
  async ingress(host: string): Promise<{ url: string; stop: () => void }> {
    return serveOnLoopback((incoming, outgoing) => {
      const port = this.#portOf(host)
      if (port === undefined) return void outgoing.writeHead(503).end(`no ingress leads to ${host}`)
      const headers = { ...incoming.headers, 'x-forwarded-for': LOOPBACK }
      const { method, url: path } = incoming
      const onward = request({ host: LOOPBACK, port, method, path, headers }, (response) => {
        outgoing.writeHead(response.statusCode ?? 502, response.headers)
        response.pipe(outgoing)
      })
      onward.on('error', () => outgoing.destroy())
      outgoing.on('close', () => onward.destroy())
      incoming.pipe(onward)
    })
  }

  log(name: string): string {
    return this.#pods.get(name)?.child.logTail() ?? ''
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#pods.values()].map(({ child }) => child.stop()))
  }

  async #run(args: readonly string[]): Promise<string> {
    return (await execa('kubectl', args, { cwd: this.#options.code })).stdout
  }

  #store(objects: readonly KubernetesObject[]): void {
    for (const object of objects) {
      const { kind, metadata } = object
      if (kind !== 'Namespace' && !this.#objects.has(`Namespace/${metadata.namespace}`))
        throw new Error(`namespaces "${metadata.namespace}" not found`)
      this.#objects.set(`${kind}/${metadata.name}`, object)
    }
  }

  #object(kind: string, name: string): KubernetesObject {
    const object = this.#objects.get(`${kind}/${name}`)
    if (!object) throw new Error(`${kind} "${name}" not found`)
    return object
  }

  async #apply(file: string, selector: string | undefined): Promise<Answer> {
    const [label, value] = selector?.split('=') ?? []
    const text = readFileSync(join(this.#options.code, file), 'utf8')
    const objects: KubernetesObject[] = parseAllDocuments(text)
      .map((one) => one.toJS())
      .filter(({ metadata }) => label === undefined || metadata.labels?.[label] === value)
    if (objects.length === 0) throw new Error('no objects passed to apply')
    this.#store(objects)
    const run = objects.filter(
      ({ kind, metadata }) => /^(Job|Deployment)$/.test(kind) && !this.#pods.has(metadata.name),
    )
    for (const object of run) this.#pods.set(object.metadata.name, await this.#start(object))
    return { out: objects.map(({ kind, metadata }) => `${kind}/${metadata.name} applied\n`).join('') }
  }

  /** Starts the object's container. A pod has an address of its own; here it has ports of its own. */
  async #start({ metadata, spec }: KubernetesObject): Promise<Pod> {
    const { code, folder, images, local, env: more } = this.#options
    const [container] = spec.template.spec.containers
    if (!images.has(container.image)) throw new Error(`image "${container.image}" cannot be pulled`)
    const files = join(folder, metadata.name)
    for (const { name, mountPath } of container.volumeMounts ?? []) {
      const { configMap } = spec.template.spec.volumes.find((volume: KubernetesObject) => volume.name === name)
      mkdirSync(join(files, mountPath), { recursive: true })
      const { data = {} } = this.#object('ConfigMap', configMap.name)
      for (const [key, text] of Object.entries(data)) writeFileSync(join(files, mountPath, key), String(text))
    }
    const set = this.#settings(container)
    const ports: Record<string, number> = {}
    const moved: Record<string, string> = {}
    for (const { name, containerPort } of container.ports ?? []) {
      ports[name] = await freePort()
      for (const [setting, value] of Object.entries(set))
        if (/PORT$/.test(setting) && value === String(containerPort)) moved[setting] = String(ports[name])
    }
    const here = Object.entries({ ...set, ...moved }).map(([name, value]) => [
      name,
      /HOST$/.test(name) ? LOOPBACK : local(value).replaceAll('=/authorities', `=${files}/authorities`),
    ])
    const env = { PATH: process.env.PATH ?? '', ...more, ...Object.fromEntries(here) }
    const child = await startChild({
      name: metadata.name,
      command: 'node',
      args: [join(code, 'origin/command.ts'), ...container.args],
      logFile: join(folder, `${metadata.name}.log`),
      cwd: folder,
      env,
    })
    return { child, env, ports }
  }

  #settings({ env = [], envFrom = [] }: KubernetesObject): Record<string, string> {
    const dataOf = ({ configMapRef, secretRef }: KubernetesObject): Record<string, string> =>
      configMapRef ? this.#object('ConfigMap', configMapRef.name).data : this.#secret(secretRef.name)
    return {
      ...Object.assign({}, ...envFrom.map(dataOf)),
      ...Object.fromEntries(
        env.map(({ name, valueFrom: { secretKeyRef } }: KubernetesObject) => [
          name,
          this.#secret(secretKeyRef.name)[secretKeyRef.key],
        ]),
      ),
    }
  }

  #secret(name: string): Record<string, string> {
    const data: Record<string, string> = this.#object('Secret', name).data
    return Object.fromEntries(
      Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')]),
    )
  }

  #pod(name: string): Pod {
    const pod = this.#pods.get(name.split('/').at(-1) ?? '')
    if (!pod) throw new Error(`${name} not found`)
    return pod
  }

  async #waitForJob(name: string): Promise<Answer> {
    const { child } = this.#pod(name)
    const how = await child.ended
    if (how !== 'exit code 0') throw new Error(`${name} failed (${how}): ${child.logTail()}`)
    return { out: `${name} condition met\n` }
  }

  async #waitForRollout(name: string): Promise<Answer> {
    const { child, ports } = this.#pod(name)
    await untilReady(child, async () => (await fetch(`http://${LOOPBACK}:${ports.ops}/readyz`)).ok)
    return { out: `${name} successfully rolled out\n` }
  }

  async #exec(name: string, command: readonly string[]): Promise<Answer> {
    const { env } = this.#pod(name)
    const [program, file = '', ...args] = command
    if (program !== NODE || !file.startsWith(APP)) return { status: 126, err: `the image has no ${program} ${file}\n` }
    const options = { env, extendEnv: false, reject: false, cwd: this.#options.folder } as const
    const code = join(this.#options.code, file.slice(APP.length))
    const { exitCode, stdout, stderr } = await execa('node', [code, ...args], options)
    return { status: exitCode ?? 1, out: `${stdout}\n`, err: stderr }
  }

  /** Follows a host of the ingress by its service to the port of a process. */
  #portOf(host: string): number | undefined {
    const rules = [...this.#objects.values()].flatMap(({ kind, spec }) => (kind === 'Ingress' ? spec.rules : []))
    const service = rules.find((rule: KubernetesObject) => rule.host === host)?.http.paths[0].backend.service
    if (!service) return undefined
    const { spec } = this.#object('Service', service.name)
    const { targetPort } = spec.ports.find(({ name }: KubernetesObject) => name === service.port.name)
    return this.#pod(`flash-sale-${spec.selector.part}`).ports[targetPort]
  }
}
