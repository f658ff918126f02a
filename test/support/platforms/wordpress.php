<?php
// What a plugin meets in WordPress (6.1), over curl as its library of requests is: `wordpress.php <recipe> <email>…`

$filters = [];

function add_filter($hook_name, $callback, $priority = 10, $accepted_args = 1)
{
    global $filters;
    $filters[$hook_name] = [$callback, $accepted_args];
    return true;
}

class WP_Error
{
    public array $errors = [];

    public function __construct($code = '', $message = '', $data = '')
    {
        if ($code !== '') $this->add($code, $message, $data);
    }

    public function get_error_message($code = '')
    {
        return current($this->errors)[0] ?? '';
    }

    public function add($code, $message, $data = '')
    {
        $this->errors[$code][] = $message;
    }
}

function is_wp_error($thing)
{
    return $thing instanceof WP_Error;
}

function wp_remote_get($url, $args = [])
{
    $args += ['timeout' => 5, 'redirection' => 5, 'headers' => []];
    $call = curl_init($url);
    curl_setopt_array($call, [
        CURLOPT_HTTPHEADER => array_map(fn($name, $value) => "$name: $value", array_keys($args['headers']), $args['headers']),
        CURLOPT_RETURNTRANSFER => true,
        CURLOPT_TIMEOUT_MS => (int) round($args['timeout'] * 1000),
        CURLOPT_FOLLOWLOCATION => $args['redirection'] > 0,
    ]);
    $body = curl_exec($call);
    if ($body === false) return new WP_Error('http_request_failed', curl_error($call));
    return ['body' => $body, 'response' => ['code' => curl_getinfo($call, CURLINFO_RESPONSE_CODE)]];
}

function wp_remote_retrieve_response_code($response)
{
    return is_wp_error($response) ? '' : $response['response']['code'];
}

function wp_remote_retrieve_body($response)
{
    return is_wp_error($response) ? '' : $response['body'];
}

define('DOMAIN_RISK_URL', getenv('DOMAIN_RISK_URL'));
define('DOMAIN_RISK_KEY', getenv('DOMAIN_RISK_KEY'));
require $argv[1];
foreach (array_slice($argv, 2) as $email) {
    [$callback, $accepted] = $filters['registration_errors'];
    $errors = $callback(...array_slice([new WP_Error(), 'jane', $email], 0, $accepted));
    echo $errors->errors['risky_email_domain'][0] ?? 'None', "\n";
}
