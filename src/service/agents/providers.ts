import { z } from 'zod'
import { type Settings, setting } from '../../core/assumptions.ts'
import { nonEmptyText } from '../../core/fields.ts'
import { oneOfNames, recordedName } from '../records.ts'

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
  const names = settings.get(triggerSources)
  return triggerSource(settings).transform((name) => providers[names.indexOf(name)] as Provider) // it is one of the names
}

/** The provider in a record. */
export function recordedSource(settings: Settings): z.ZodType<Provider> {
  const hint = `; the setting ${triggerSources.key} gives other names`
  return recordedName(providers, settings.get(triggerSources), hint)
}
