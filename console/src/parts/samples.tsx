/** The call in several languages, with the visitor's own key hidden until they want to see it. */

import { useState } from 'preact/hooks';
import { SAMPLES } from '../samples.ts';
import { apiKey, masked } from '../session.ts';
import { useShared } from '../shared.ts';
import { Code } from './copy.tsx';
import { Tabs } from './tabs.tsx';

interface SamplesProps {
  readonly domain: string;
  /** Where people show each other the page, the key is in no sample before they want it there. */
  readonly isShowing?: boolean;
}

export function Samples({ domain, isShowing = false }: SamplesProps) {
  const { text: secret } = useShared(apiKey);
  const [isShown, setIsShown] = useState(false);
  const [language, setLanguage] = useState('curl');
  const write = (key: string) =>
    SAMPLES[language]!({ domain, base: location.origin, secret: key || undefined });
  const covered = write(isShowing ? '' : secret && masked(secret));
  return (
    <Tabs label="Examples" names={Object.keys(SAMPLES)} current={language} onChoose={setLanguage}>
      <Code
        text={isShown ? write(secret) : covered}
        copied={isShown || !isShowing ? write(secret) : covered}
        what={`${language} example`}
        isWrapped={language === 'curl'}
      />
      {secret && (
        <label class="check">
          <input
            type="checkbox"
            checked={isShown}
            onChange={event => setIsShown(event.currentTarget.checked)}
          />
          {isShowing
            ? 'Put my key into the examples'
            : 'Show my key in the examples (copying always fills it in)'}
        </label>
      )}
    </Tabs>
  );
}
