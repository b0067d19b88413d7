import * as z from 'zod'
import { type Settings, setting } from '../../core/assumptions.ts'
import { nonEmptyText } from '../../core/fields.ts'
import { oneOfNames } from '../records.ts'

/** The names of the three kinds of provider in records, independent of the settings. Specification: Event trigger. */
export const providers = ['construction_management', 'document_collaboration', 'file_sharing'] as const

export type Provider = (typeof providers)[number]

export const triggerSources = setting<readonly string[]>({
  key: 'names.trigger_sources',
  item: 'U008',
  description: `Sets the identifiers of the three providers whose events fire triggers, in this order: ${providers.join(', ')}.`,
  schema: () =>
    z.array(nonEmptyText()).refine((names) => names.length === 3 && new Set(names).size === 3, {
      error: 'must be three different names',
    }),
  default: providers,
})

/** The provider with a name that clients use; undefined for a name that is not in the settings. */
function providerOf(name: string, settings: Settings): Provider | undefined {
  return providers[settings.get(triggerSources).indexOf(name)]
}

/** The name of a provider for clients. */
export function nameOfProvider(provider: Provider, settings: Settings): string {
  return settings.get(triggerSources)[providers.indexOf(provider)] ?? provider
}

/** One of the three providers, as clients name them. */
export function triggerSource(settings: Settings): z.ZodType<string> {
  return oneOfNames(settings.get(triggerSources), triggerSources)
}

/** A name from a client, which is parsed to the name in records. */
export function givenSource(settings: Settings): z.ZodType<Provider> {
  return triggerSource(settings).transform((name) => providerOf(name, settings) as Provider) // it is one of the names
}

/** A name in a record: names of the settings are accepted, but ours are kept, so that a change of settings breaks no sandbox. */
export function recordedSource(settings: Settings): z.ZodType<Provider> {
  const read = (name: string) => providers.find((each) => each === name) ?? providerOf(name, settings)
  const names = [...new Set([...providers, ...settings.get(triggerSources)])].join(', ')
  return z
    .string()
    .refine((name) => read(name) !== undefined, {
      error: `must be one of ${names}; the setting names.trigger_sources gives other names`,
    })
    .transform((name) => read(name) as Provider) // the refinement has let no other name pass
}
