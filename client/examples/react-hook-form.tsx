/** React Hook Form: the field says so when the domain is risky. The key in a page must be limited to its origin. */

import { createClient } from '@domain-risk/client';
import { useForm } from 'react-hook-form';

export interface SignUpProps {
  readonly riskUrl: string;
  readonly riskKey: string;
  readonly onSignUp: (email: string) => void;
}

export function createSignUp({ riskUrl, riskKey, onSignUp }: SignUpProps) {
  const risk = createClient({ baseUrl: riskUrl, apiKey: riskKey });

  return function SignUp() {
    const { register, handleSubmit, formState } = useForm<{ email: string }>();
    const isWelcome = async (email: string) =>
      !(await risk.isRisky(email)) || 'Please use another email address.';
    return (
      <form noValidate onSubmit={handleSubmit(({ email }) => onSignUp(email))}>
        <input
          type="email"
          {...register('email', { required: 'Your email address?', validate: isWelcome })}
        />
        <p role="alert">{formState.errors.email?.message}</p>
        <button type="submit">Sign up</button>
      </form>
    );
  };
}
