<?php
// What a rule meets in Laravel (10 and later), over curl as Guzzle is: `laravel.php <recipe> <email>…`

namespace Illuminate\Contracts\Validation {
    interface ValidationRule
    {
        public function validate(string $attribute, mixed $value, \Closure $fail): void;
    }
}

namespace Illuminate\Http\Client {
    class Response
    {
        public function __construct(private int $status, private string $body) {}

        public function throw(): static
        {
            $message = "HTTP request returned status code $this->status";
            return $this->status >= 400 ? throw new \Exception($message, $this->status) : $this;
        }

        public function json($key = null, $default = null)
        {
            $decoded = json_decode($this->body, true);
            if ($key === null) return $decoded;
            return is_array($decoded) ? $decoded[$key] ?? $default : $default;
        }
    }

    class PendingRequest
    {
        private array $options = [CURLOPT_RETURNTRANSFER => true, CURLOPT_FOLLOWLOCATION => true, CURLOPT_TIMEOUT_MS => 30_000];

        public function withToken($token, $type = 'Bearer'): static
        {
            $this->options[CURLOPT_HTTPHEADER] = ["Authorization: $type $token"];
            return $this;
        }

        public function timeout(int|float $seconds): static
        {
            $this->options[CURLOPT_TIMEOUT_MS] = (int) ($seconds * 1000);
            return $this;
        }

        public function withoutRedirecting(): static
        {
            $this->options[CURLOPT_FOLLOWLOCATION] = false;
            return $this;
        }

        public function get(string $url): Response
        {
            $call = curl_init($url);
            curl_setopt_array($call, $this->options);
            $body = curl_exec($call);
            // As Guzzle says it.
            if ($body === false) throw new \Exception(curl_error($call) . " for $url");
            return new Response(curl_getinfo($call, CURLINFO_RESPONSE_CODE), $body);
        }
    }
}

namespace Illuminate\Support\Facades {
    class Http
    {
        public static function __callStatic($method, $arguments)
        {
            return (new \Illuminate\Http\Client\PendingRequest())->$method(...$arguments);
        }
    }

    class Log
    {
        public static function warning($message)
        {
            fwrite(STDERR, "$message\n");
        }
    }
}

namespace {
    function config($key)
    {
        return getenv(['services.domain_risk.key' => 'DOMAIN_RISK_KEY', 'services.domain_risk.url' => 'DOMAIN_RISK_URL'][$key]);
    }

    require $argv[1];
    foreach (array_slice($argv, 2) as $email) {
        $said = 'None';
        (new App\Rules\AcceptableDomain())->validate('email', $email, function ($message) use (&$said) {
            $said = $message;
        });
        echo $said, "\n";
    }
}
