import { isObject, type Json } from '../../core/json.ts'

/** The fields and parameters with ids. Elsewhere, a text that is equal to an id may mean something else. */
const ID_FIELD = /(?:^|_)ids?$|^(?:after|before)$/

/** The ids that stand for the recorded ones in repeated requests. */
export class Ids {
  readonly #own = new Map<string, string>()
  /** The ids that exist where the requests are repeated. */
  readonly known = new Set<string>()

  of(recorded: string): string {
    return this.#own.get(recorded) ?? recorded
  }

  /** A new id stands for the recorded one from now on. Returns the ids of records. */
  bind(recorded: Json | undefined, own: Json | undefined): string[] {
    if (!isObject(recorded) || !isObject(own)) return []
    for (const [name, id] of Object.entries(recorded)) {
      const other = own[name]
      if (!ID_FIELD.test(name) || typeof id !== 'string' || typeof other !== 'string') continue
      if (!this.known.has(id)) this.#own.set(id, other)
    }
    if (typeof own.id !== 'string') return []
    this.known.add(own.id)
    return [own.id]
  }

  /** A value with the ids that stand for the recorded ones. @param name of the field that has it */
  inside(value: Json, name = ''): Json {
    if (typeof value === 'string') return ID_FIELD.test(name) ? this.of(value) : value
    if (Array.isArray(value)) return value.map((each) => this.inside(each, name))
    if (!isObject(value)) return value
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => [key, this.inside(each as Json, key)]),
    )
  }

  /** A path and a query with these ids. */
  target(path: string, { searchParams }: URL): string {
    const segments = path.split('/').map((each) => encodeURIComponent(this.of(decodeURIComponent(each))))
    const query = [...searchParams].map(([name, value]): [string, string] => [
      name,
      String(this.inside(value, name)),
    ])
    return `${segments.join('/')}${query.length === 0 ? '' : `?${new URLSearchParams(query)}`}`
  }
}
