import { existsSync, readFileSync } from 'node:fs'
import { cases, type GalleryCase } from './cases.ts'
import { repairsOf } from './repair.ts'

export function findingFile(name: string): URL {
  return new URL(`findings/${name}.txt`, import.meta.url)
}

/** A finding as text, without what differs from run to run. */
export function findingText({
  severity,
  code,
  message,
}: Record<'severity' | 'code' | 'message', string>): string {
  const steady = message
    .replaceAll(/\/@[\w-]+\/v1/g, '/v1')
    .replaceAll(/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/g, 'another one')
    .replaceAll(/\b\d+ ms by the real clock/g, '0 ms by the real clock')
    .replaceAll(/\border-\d+\b/g, 'order-1')
    .replaceAll(/\b[\da-f]{24}\b/g, 'ID')
  return `${severity} \`${code}\`: ${steady}\n`
}

export function galleryReference(): string {
  return cases.map(sectionOf).join('\n\n')
}

function sectionOf({ name, did, faults, certified }: GalleryCase): string {
  const presets = faults.map(({ preset }) => (preset === undefined ? 'a rule of its own' : `\`${preset}\``))
  const shown =
    certified === undefined
      ? `With ${presets.join(', ')}`
      : `In the case \`${certified}\` of the certification`
  return [
    `### ${name}`,
    `${did} ${shown}:`,
    `> ${textOf(name)}`,
    ['```diff', ...diffOf(name), '```'].join('\n'),
  ].join('\n\n')
}

function textOf(name: string): string {
  const file = findingFile(name)
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : ''
}

function diffOf(name: string): string[] {
  return repairsOf(name).flatMap(({ broken, repaired }) => {
    const margin = Math.min(...[...broken, ...repaired].map((line) => line.search(/\S/)))
    return [
      ...broken.map((line) => `- ${line.slice(margin)}`),
      ...repaired.map((line) => `+ ${line.slice(margin)}`),
    ]
  })
}
