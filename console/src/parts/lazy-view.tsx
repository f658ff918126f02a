/** A view whose code is loaded when it is shown first: the front page needs none of it. */

import { useEffect, useState } from 'preact/hooks';
import { Empty, Waiting } from './notice.tsx';

type View = () => preact.JSX.Element;

export function lazily(what: string, load: () => Promise<View>): View {
  return function Lazy() {
    const [loaded, setLoaded] = useState<{ View: View } | 'lost'>();
    useEffect(() => {
      void load().then(
        View => setLoaded({ View }),
        // After an upgrade the service no longer has the file that this page knows by name.
        () => setLoaded('lost'),
      );
    }, []);
    useEffect(() => {
      // Whoever came here by a link finds themselves at its heading, as in every view; at the first load nothing has the focus.
      if (loaded && document.activeElement !== document.body)
        document.querySelector<HTMLElement>('main h1')?.focus();
    }, [loaded]);
    if (loaded === undefined) return <Waiting for={what} />;
    if (loaded !== 'lost') return <loaded.View />;
    return (
      <Empty title="This view could not be loaded">
        <p>Reload the page to try again.</p>
      </Empty>
    );
  };
}
