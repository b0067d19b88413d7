import { useState } from 'preact/hooks'
import { baseUrl } from '../api.ts'
import { Code } from '../code.tsx'
import { timeOfDay } from '../format.ts'
import { linkTo, sandboxName } from '../place.ts'
import { logRows } from '../requests.ts'
import { DEMO_KEYS, LANGUAGES, type Language, snippet } from '../snippets.ts'
import { Card, CopyButton, Note, Tabs, ViewHead } from '../ui.tsx'

export default function Connect() {
  const [language, setLanguage] = useState<Language>('curl')
  const [key, setKey] = useState<string>(DEMO_KEYS[0].token)
  const code = snippet(language, { method: 'GET', url: `${baseUrl()}/data-views`, headers: {}, key })
  const name = sandboxName.value === 'default' ? 'w1' : sandboxName.value
  const [last] = logRows.value.entries
  return (
    <>
      <ViewHead title="Connect" summary="point any HTTP client here" />
      <section class="scroll" tabIndex={0} aria-label="How to connect">
        <div class="columns">
          <Card title="Address and keys">
            <div class="pad">
              <div class="field stack">
                <label for="base-url">Base URL</label>
                <span class="row">
                  <input id="base-url" class="mono grow" readOnly value={baseUrl()} />
                  <CopyButton text={baseUrl} />
                </span>
              </div>
            </div>
            <ul class="rows">
              {DEMO_KEYS.map(({ token: each, role }) => (
                <li key={each}>
                  <label class="grow row">
                    <input type="radio" name="key" checked={each === key} onChange={() => setKey(each)} />
                    <code>{each}</code>
                    <span class="hint">{role}</span>
                  </label>
                  <CopyButton text={() => each} />
                </li>
              ))}
            </ul>
            <p class="pad hint">
              These are the keys of the demo data. With your own fixtures, use their keys.
            </p>
          </Card>
          <Card title="First request" actions={<CopyButton text={() => code}>Copy</CopyButton>}>
            <Tabs label="Language" options={LANGUAGES} value={language} onChoose={setLanguage} />
            <div class="pad" role="tabpanel" aria-label={language}>
              <Code text={code} />
              <div role="status">
                {last === undefined ? (
                  <Note icon="progress">
                    Waiting for your first request. This line turns green when it arrives.
                  </Note>
                ) : (
                  <Note tone="ok">
                    Connected:{' '}
                    <a href={linkTo('requests', [last.id])}>
                      {last.method} {last.path}
                    </a>{' '}
                    at {timeOfDay(last.at)}, status {last.status === 0 ? 'none' : last.status}.
                  </Note>
                )}
              </div>
            </div>
          </Card>
        </div>
        <Card title="A sandbox for one test">
          <p class="pad">
            Append <code>@name</code> to the key: <code>{`${key}@${name}`}</code>. The sandbox is created on
            first use and has its own data, clock and faults.
          </p>
        </Card>
      </section>
    </>
  )
}
